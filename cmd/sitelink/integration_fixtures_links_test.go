//go:build integration && linux

package main_test

// cloning are the pages on which the tree builder makes several elements of
// one misnested tag.
var cloning = map[string]bool{"l-misnest.html": true, "misnested.html": true}

// linkPages hold links in every place where they can be or seem to be.
func linkPages() []fragmentPage {
	const many = `<a href="p/q.html">x</a><a href="../up.html">x</a><a href="//h.invalid/x">x</a><a href="?q">x</a><a href="#f">x</a><a href="">x</a><a href="/root">x</a><a href="http:rel.html">x</a><a href="HTTPS://H.invalid:443/%7e/../a b?c d#e f">x</a><img src="i.png">`
	return []fragmentPage{
		{"l-elements.html", std + `<link rel=stylesheet href=s.css><link rel=preconnect href=//h.invalid><link href=nothing><script src=s.js></script><base target=_blank><body background=bg.png><a href=a.html>x</a><area href=area.html><img src=i.png lowsrc=l.png><iframe src=iframe.html></iframe><embed src=e.swf>
<object data=o.bin></object><video src=v.mp4 poster=p.png></video><audio src=a.ogg></audio><picture><source src=so.png></picture><video><source src=so.mp4><track src=t.vtt></video><input type=image src=in.png><input type=submit formaction=fa><button formaction=fb>x</button><form action=fc></form>
<blockquote cite=c1>x</blockquote><q cite=c2>x</q><ins cite=c3>x</ins><del cite=c4>x</del><svg><a href=sa.html>x</a><a xlink:href=sx.html>x</a><image href=si.png /><image xlink:href=six.png></image><use href="#u1"></use><use xlink:href="u.svg#u2"></use><script href=ss.js></script><script xlink:href=ssx.js></script></svg><image src=old.png><input src=plain.png><a>x</a><a name=x>x</a>`, nil},
		{"l-values.html", std + `<a href=" a.html ">x</a><a href="a` + "\n\t" + `b.html">x</a><a href=a.html>x</a><a href='q"u.html'>x</a><a href="a&amp;b.html?c&amp;d&copy=e&copy;">x</a><a href=x&#46;html>x</a><a href="a%20b.html">x</a><a href="ü.html?ü#ü">x</a><a href='a\b.html'>x</a><a href="a//b">x</a><a href="./a/../b/./c">x</a><a href="../../..">x</a>
<a href="mailto:a@b.invalid?subject=x y">x</a><a href="TEL:+1 2">x</a><a href="javascript:void 0">x</a><a href="data:text/plain,a b#c">x</a><a href="ftp://h.invalid/x">x</a><a href="about:blank#x">x</a><a href="http://">x</a><a href="http://h.invalid:99999/">x</a><a href="http://[::1">x</a><a href="//">x</a><a href="http://u:p@h.invalid/">x</a>
<a href="http://H.INVALID/%41?%41#%41">x</a><a href="http://bücher.invalid/">x</a><a href="http://0x7f.1/">x</a><a href="https://h.invalid:80/">x</a><a href="https://h.invalid:443">x</a><a href="http:/one">x</a><a href="http:two">x</a><a href="///three">x</a><a href="/%zz%00">x</a><a href="blob:x">x</a><a href="x:y:z">x</a><a href=":x">x</a><a href="1:x">x</a><a href="a:b">x</a><a href="#">x</a><a href="?">x</a><a href="?#">x</a><a href="#a#b c">x</a><a href="` + "a\x00b\x01c" + `">x</a><a href="%">x</a><a href="file:///x">x</a><a href="^{}` + "`" + `[]'">x</a>
<a href="urn:isbn:1">x</a><a href="http://1.2.3/">x</a><a href="http://1.2.3.256/">x</a><a href="http://a%2fb/">x</a><a href="http://ex%41mple.invalid/">x</a><a href="http://xn--bcher-kva.invalid/">x</a><a href="..%2fx">x</a><a href="%2e%2e/x">x</a><a href=".%2E">x</a>`, nil},
		{"l-empty.html", std + `<a href>x</a><a href="">x</a><img src><img src=""><script src=""></script><link rel=x href=""><area href="">`, nil},
		{"l-base.html", "<!doctype html><meta charset=utf-8><base href=/dir/x/>" + many, nil},
		{"l-base-late.html", std + many + "<base href=/dir/late.html>" + many + "<base href=/second/>" + many, nil},
		{"l-base-external.html", "<!doctype html><meta charset=utf-8><base href=https://other.invalid/d/e>" + many, nil},
		{"l-base-protocol.html", "<!doctype html><meta charset=utf-8><base href=//other.invalid/d/>" + many, nil},
		{"l-base-no-href.html", "<!doctype html><meta charset=utf-8><base target=_self><base href=/b/><base href=/c/>" + many, nil},
		{"l-base-empty.html", "<!doctype html><meta charset=utf-8><base href=''><base href=/c/>" + many, nil},
		{"l-base-data.html", "<!doctype html><meta charset=utf-8><base href='data:text/plain,x'>" + many, nil},
		{"l-base-javascript.html", "<!doctype html><meta charset=utf-8><base href='javascript:x'><base href=/c/>" + many, nil},
		{"l-base-template.html", "<!doctype html><meta charset=utf-8><template><base href=/t/></template>" + many, nil},
		{"l-base-comment.html", "<!doctype html><meta charset=utf-8><!-- <base href=/t/> --><title><base href=/u/></title><svg><base href=/s/></base></svg>" + many, nil},
		{"l-base-body.html", std + "<div><p><base href=dir/sub/></p></div>" + many, nil},
		{"l-base-query.html", "<!doctype html><meta charset=utf-8><base href='?base=1#frag'>" + many, nil},
		{"l-base-dots.html", "<!doctype html><meta charset=utf-8><base href='../a/./b/../c?x'>" + many, nil},
		{"dir/l-deep.html", std + many, nil},
		{"dir/sub/l-deeper.html", std + many + `<a href="../../../x">x</a>`, nil},
		{"l-inert.html", std + `<template><a href=n1>x</a><img src=n2></template><template shadowrootmode=open><a href=n3>x</a></template><div><template><a href=n4>x</a></template><a href=y1>x</a></div><!-- <a href=n5> --><textarea><a href=n6></textarea><title><a href=n7></title><style><a href=n8></style><script type=x><a href=n9></script>
<iframe><a href=n10></iframe><noembed><a href=n11></noembed><noframes><a href=n12></noframes><xmp><a href=n13></xmp><noscript><a href=y2>x</a><img src=y3></noscript><![CDATA[<a href=n14>]]><svg><![CDATA[<a href=n15>]]><a href=y4></a></svg><frame src=n16><object><a href=y5>x</a></object><video src=y6><a href=y7>x</a></video><select><option><a href=y8>x</a><img src=y9></select>
<table><a href=y10>x</a><tr><a href=y11>x</a><td><a href=y12>x</a></table><svg><style><a href=y13></a></style><title><a href=y14></a></title><desc><img src=y15></desc></svg><math><mi><a href=y16>x</a></mi></math><svg><img src=y17><a href=y18>x</a></svg><custom-x href=n18></custom-x><div href=n19 src=n20></div></a href=n21><a href=n22`, nil},
		{"l-frameset.html", "<!doctype html><frameset><frame src=f1><frame src=f2><frameset><frame src=f3></frameset><a href=n1>x</a><noframes><a href=n2>x</a></noframes></frameset><a href=n3>x</a>", nil},
		{"l-misnest.html", std + `<a href=m1>x<a href=m2>y<div>z<a href=m3>w</div>v</a><p><a href=m4>x<p>y</a>z<b><a href=m5>x</b>y</a><table><tr><td><a href=m6>x</td></tr></table>y</a><a href=m7><table><a href=m8>x</table></a><button formaction=m9><button formaction=m10>x</button><form action=m11><form action=m12></form><form action=m13></form>`, nil},
		{"l-attributes.html", std + `<a href=u1 href=n1>x</a><A HREF=u2>x</A><a title="t href=n2" href=u3>x</a><a href = u4>x</a><a
href
=
u5>x</a><a/href=u6/>x</a><a href="u7"class=y>x</a><a href=u8>x</a><a href='u9>x'>x</a><a title="x > y < z" href=u10>x</a><a href=x<y.html>x</a><a "href=n3">x</a><a href==u11>x</a><a href="u12" / title>x</a><a data-href=n4 xlink:href=n5>x</a><a href=a>b.html>x</a><a href="` + "`u13`" + `">x</a><svg><a HREF=u14></a><use XLINK:HREF="#u15"/><a xlink:href=u16 href=u17></a></svg>`, nil},
		{"l-latin1.html", "<!doctype html><meta charset=iso-8859-1><a href=\"\xe9?\xe9#\xe9\">x</a><a href=\"?&#8364;&#26085;\">x</a><form action=\"?\xe9\"></form><img src=\"\xe9.png?\xe9\"><a href=\"http://h.invalid/?\xe9\">x</a><a href=\"mailto:x?\xe9\">x</a>", nil},
		{"l-sjis.html", "<!doctype html><meta charset=shift_jis><a href=\"\x93\xfa?\x93\xfa&#233;#\x93\xfa\">x</a><a href=\"\x83\x5c.html\">x</a>", nil},
		{"l-gbk.html", "<!doctype html><meta charset=gbk><a href=\"\xc8\xd5?\xc8\xd5&#128512;&#8364;\">x</a>", nil},
		{"l-iso2022jp.html", "<!doctype html><meta charset=iso-2022-jp><a href=\"?\x1b$BF|\x1b(Bx\">x</a>", nil},
		{"l-utf16.html", "\xff\xfe<\x00!\x00d\x00o\x00c\x00t\x00y\x00p\x00e\x00 \x00h\x00t\x00m\x00l\x00>\x00<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00'\x00\xe9\x00?\x00\xe9\x00'\x00>\x00", nil},
		{"l-invalid-utf8.html", std + "<a href=\"\xff?\xff#\xff\">x</a><a href=\"a\xc3\">x</a>", nil},
		{"l-page.xhtml", xmlTop + xhtml + `<a href="x1">x</a><A href="n1">x</A><a HREF="n2">x</a><![CDATA[<a href="n3">x</a>]]><script src="x2"/><img src="x3"/><template><a href="n4"/></template><svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><a l:href="x4"/><image href="x5"/></svg><h:a xmlns:h="http://www.w3.org/1999/xhtml" href="x6"/><textarea><a href="x7"/></textarea><a href="a&amp;b">x</a><a xmlns="urn:x" href="n5"/></body></html>`, nil},
		{"l-base.xhtml", xmlTop + `<html xmlns="http://www.w3.org/1999/xhtml"><head><base href="/dir/"/><title>x</title></head><body><a href="x1">x</a><a href="#f">x</a></body></html>`, nil},
		{"l-broken.xhtml", xmlTop + xhtml + `<a href="x1">x</a><p><a href="x2">x</p><a href="n1">x</a></body></html>`, nil},
	}
}
