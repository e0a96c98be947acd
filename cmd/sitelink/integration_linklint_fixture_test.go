//go:build integration && linux

package main_test

import "strings"

// linklintDocroot is a docroot with every kind of link, path, index file, map
// and listing that requirements LL-1 to LL-111 are about. Each page is named
// for the requirements it holds; those where Linklint is wrong stand in
// linklintExceptions.
func linklintDocroot() map[string]string {
	files := map[string]string{}
	add := func(name, content string) { files[name] = content }
	empty := func(names string) {
		for _, name := range strings.Fields(names) {
			add(name, "")
		}
	}

	add("home.html", `<html><head><title>home</title></head><body>
<a href="tags/media.html">1</a> <a href="tags/meta.html">2</a> <a href="tags/applet.html">3</a> <a href="tags/frames.html">4</a> <a href="tags/area.html">4</a>
<a href="syntax/comments.html">5</a> <a href="syntax/quotes.html">6</a> <a href="syntax/entities.html">7</a> <a href="syntax/unknown.html">8</a>
<a href="base/absolute.html">9</a> <a href="base/relative.html">10</a> <a href="base/own.html">11</a>
<a href="paths/resolve.html">12</a> <a href="paths/host.html">13</a> <a href="paths/odd.html">14</a> <a href="paths/schemes.html">15</a>
<a href="index/">16</a> <a href="listing/">17</a> <a href="maps/page.html">18</a> <a href="sets/">19</a> <a href="anchors/page.html">20</a>
<a href="types/">21</a> <a href="nodir/">22</a> <a href="gone.html">23</a> <a href="bugs/all.html">24</a> <a href="about.htm">25</a></body></html>`)
	add("about.htm", `<a href="/">1</a><a href="gone-about.html">2</a><a href="sets/a.html#nope">3</a><img src="tags/i.gif">`)

	// LL-38 to LL-53
	add("tags/media.html", `<BODY BACKGROUND = 'bg.gif'><img src=i.gif lowsrc=l.gif dynsrc=d.avi><img src="no.gif"><bgsound src=b.wav><embed src=e.mid>
<input type=image src=in.gif><script src=s.js></script><script src=gone.js></script><form action=/cgi-bin/f.cgi></form><form action="http://h.example/f"></form>`)
	empty("tags/bg.gif tags/i.gif tags/l.gif tags/b.wav tags/in.gif tags/s.js tags/extra.gif")
	add("tags/meta.html", `<meta http-equiv="refresh" content="5; URL=/tags/media.html"><META HTTP-EQUIV=Refresh CONTENT="0;url=http://www.example.com/tags/gone.html">`)
	add("tags/applet.html", `<applet code=App></applet><applet code=A.class codebase=/java/></applet><applet code=Gone codebase=jars archive=a.jar></applet>`)
	empty("tags/App.class java/A.class tags/jars/a.jar")
	add("tags/frames.html", `<frameset><frame src=media.html><frame src=gone-frame.html></frameset>`)
	add("tags/area.html", `<map name=m1><area href=applet.html><area href="gone-area.html"></map>`)

	// LL-30 to LL-33, LL-55 to LL-59
	add("syntax/comments.html", `<!-- <a href=no.html> --><a href=yes.html>x</a><script src=s.js>document.write("<a href=n.html>")</script><!-- x --!><a href=quotes.html></a>
<!-- never closed <a href=n2.html>`)
	empty("syntax/yes.html syntax/s.js")
	add("syntax/quotes.html", `<a href=a.html><a href="b.html"><a href='c.html'><A HREF='q"u.html'><a
 href
 =
 "w.html"  ><a title="x > y < z" href=g.html><a href="  p.html ">`)
	empty(`syntax/a.html syntax/b.html syntax/q"u.html syntax/w.html syntax/p.html`)
	add("syntax/entities.html", `<a href="a&amp;b.html"><a href="x&lt;y.html"><a href="c&quot;d.html"><a href="&#97;.html"><a href="gone&amp;.html">`)
	empty(`syntax/a&b.html syntax/x<y.html syntax/c"d.html`)
	add("syntax/unknown.html", `<link rel=stylesheet href=s.css><iframe src=i.html></iframe><object data=o></object><video src=v></video><img srcset="x 2x"><a data-href=n.html>`)

	// LL-35, LL-36
	add("base/absolute.html", `<a href=p.html><base href="http://www.example.com/base/y/z.html"><a href=r.html><a href=/base/s.html><a href=../u.html>`)
	add("base/relative.html", `<base target=_top><a href=p.html>`)
	add("base/own.html", `<base href="http://other.example/q/"><a href=r.html><a href="/s.html"><base href="http://www.example.com/base/"><a href=s.html>`)
	empty("base/p.html base/y/r.html base/s.html")

	// LL-64 to LL-72, LL-74
	add("paths/resolve.html", `<a href=b.html><a href=./b.html><a href=/paths/b.html><a href=x/../b.html><a href="q.html?x=1#f"><a href="/paths/./b.html"><a href="/paths/y/..">`)
	add("paths/b.html", `<a href="host.html#nope">`)
	add("paths/q.html", `<a name=f>`)
	add("paths/host.html", `<a href="http://www.example.com/paths/b.html#f"><a href="https://www.example.com/paths/s.html"><a href="//www.example.com/paths/n.html">
<a href="http://www.example.com.evil.org/e"><a href="http://other.example/x"><a href="HTTP://www.example.com/paths/up.html">`)
	add("paths/odd.html", `<a href="back\slash.html"><a href="/sets//sub/b.html">`)
	empty("paths/back/slash.html paths/up.html paths/index.html")
	add("paths/schemes.html", `<a href="mailto:x@y.z"><a href="javascript:go()"><a href="ftp://ftp.example/x"><a href="news:comp.lang"><a href="https://h.example/s"><a href="TEL:+123">`)

	// LL-77 to LL-86
	add("index/index.html", `<a href="two/">1</a><a href="shtml/">2</a><a href="welcome/">3</a><a href="case/">4</a><a href="isdir/">5</a><a href="two">6</a>
<a href="main/">7</a><a href="cgi/">8</a><a href="nodir/">9</a><a href="/empty/">10</a>`)
	add("index/two/home.html", `<a href="deep/x.html">`)
	add("index/two/index.html", `<a href="never-home.html">`)
	add("index/two/deep/x.html", `<a href="../">`)
	add("index/shtml/index.shtml", `<a href="gone1.html">`)
	add("index/welcome/welcome.html", `<a href="gone2.html">`)
	add("index/case/Index.HTML", `<a href="gone3.html">`)
	add("index/main/main.html", `<a href="gone4.html">`)
	add("index/main/other.html", `<a href="gone5.html">`)
	add("index/cgi/index.cgi", `<a href="never-cgi.html">`)

	// LL-78, LL-79, LL-24
	add("listing/two.html", `<a href="gone.html"><a href="one.txt">`)
	add("listing/inner/deep.html", `<a href="gone-deep.html">`)
	empty("listing/one.txt listing/.hidden listing/inner/x.txt listing/withindex/x.txt")
	add("listing/withindex/index.html", `<a href="gone-in-index.html">`)

	// LL-87 to LL-91
	add("maps/page.html", `<a href="m.map"><img src=i.gif ismap></a><a href="/cgi-bin/imagemap/maps/info.map"><a href="/old/new.html"><a href="gone.map"><a href="UP.MAP">`)
	add("maps/m.map", "rect http://www.example.com/maps/r.html 0,0 1,1\ndefault http://other.example/d\ncircle http://www.example.com/maps/gone-map.html 1,1 2,2\n")
	add("maps/info.map", "default http://www.example.com/maps/info.html\n")
	add("maps/UP.MAP", "default http://www.example.com/maps/up.html\n")
	empty("maps/i.gif maps/r.html maps/info.html maps/up.html maps/new.html")

	// LL-1 to LL-25: pages that all link to each other
	all := `<a href="/sets/"><a href="/sets/a.html"><a href="/sets/sub/"><a href="/sets/sub/b.html"><a href="/sets/sub/deep/c.html"><a href="/sets/gone.html">`
	for _, name := range []string{"index", "a", "sub/index", "sub/b", "sub/deep/c"} {
		add("sets/"+name+".html", all+`<a href="only-`+strings.ReplaceAll(name, "/", "-")+`.html">`)
	}

	// LL-39, LL-49, LL-51, LL-63
	add("anchors/page.html", `<a name=top>x</a><a href="#top"><a href="#nope"><a href="other.html#yes"><a href="other.html#no"><a href="/sets/a.html#nothing">
<map name=m1></map><img src=i.gif usemap="#m1"><img src=i.gif usemap="#m2"><a href="t.txt#x">`)
	add("anchors/other.html", `<a name="yes">`)
	empty("anchors/i.gif anchors/t.txt")

	// LL-26, LL-27, LL-109
	add("types/index.html", `<a href="X.HTM"><a href="y.txt"><a href="z.shtml"><a href="no.pdf"><a href="doc.pdf">`)
	add("types/X.HTM", `<a href="from-htm.html">`)
	add("types/z.shtml", `<a href="from-shtml.html">`)
	add("types/y.txt", `<a href="never.html">`)
	add("types/lost.html", `<a href="never2.html">`)
	empty("types/doc.pdf types/lost.gif")

	// What Linklint gets wrong, or what browsers read otherwise.
	add("bugs/all.html", `<a title="t href=no.html" href=title.html><a href="a%20b.html"><a href="c&#38;d.html"><style><a href=style.html></style>
<a href="../../outside.txt"><a href=""><a href="sub"><a href="self.html#id"><a href="y.xhtml"><meta http-equiv=refresh content='5; url=/bugs/single.html'>`)
	add("bugs/self.html", `<p id=id>x</p>`)
	add("bugs/y.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml"><body><a href="from-xhtml.html">x</a></body></html>`)
	empty("bugs/title.html bugs/single.html bugs/c&d.html bugs/sub/index.html")
	add("bugs/a b.html", "")
	add("bugs/dir/p.html", "")
	return files
}

// linklintExceptions are the differences to the program in the run of the whole
// site, each with the requirement that says why.
var linklintExceptions = map[string]string{
	"found: sitelink alone has /bugs/all.html < /bugs/all.html":        "LL-75: an empty href is a link to the page itself",
	"found: sitelink alone has /syntax/a.html < /syntax/entities.html": "LL-62",
	"found: sitelink alone has /bugs/a b.html":                         "LL-73: escapes are decoded before the file is looked up",
	"missing: linklint alone has /bugs/a%20b.html":                     "LL-73",
	"found: sitelink alone has /bugs/c&d.html":                         "LL-62: Linklint cuts at the # of a character reference",
	"missing: linklint alone has /bugs/c&":                             "LL-62",
	"missing anchors: linklint alone has /bugs/c&#38;d.html":           "LL-62",
	"missing: linklint alone has /syntax/&":                            "LL-62",
	"missing anchors: linklint alone has /syntax/&#97;.html":           "LL-62",
	"orphans: linklint alone has /bugs/a b.html":                       "LL-73",
	"orphans: linklint alone has /bugs/c&d.html":                       "LL-62",
	"orphans: linklint alone has /bugs/single.html":                    "LL-54",
	"orphans: linklint alone has /bugs/title.html":                     "LL-60",
	"found: sitelink alone has /bugs/single.html":                      "LL-54: Linklint wants double quotes around a refresh",
	"found: sitelink alone has /bugs/title.html":                       "LL-60: Linklint finds attributes inside the values of others",
	"missing: linklint alone has /bugs/no.html":                        "LL-60",
	"missing: linklint alone has /bugs/style.html":                     "LL-34: the text of a style element is no tag",
	"missing: sitelink alone has /bugs/from-xhtml.html":                "LL-27: .xhtml is a page",
	"missing: sitelink alone has /outside.txt":                         "LL-71: .. stops at the root",
	"missing: linklint alone has /../outside.txt":                      "LL-71",
	"missing anchors: linklint alone has /anchors/t.txt#x":             "LL-63: only pages have anchors",
	"missing anchors: linklint alone has /bugs/self.html#id":           "LL-63: an id is an anchor",
}

// linklintSometimes are differences that depend on the order in which Linklint
// comes to the links, which Perl's hashes decide.
var linklintSometimes = map[string]string{
	"missing: linklint alone has /empty/": "LL-24: a listed directory is missing if Linklint looked for a directory that does not exist just before it",
}
