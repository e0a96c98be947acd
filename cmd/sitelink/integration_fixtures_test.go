//go:build integration && linux

package main_test

import (
	"strings"
	"unicode/utf16"
)

// std and quirks begin a page in standards mode and in quirks mode.
const (
	std    = "<!doctype html><meta charset=utf-8><title>x</title>\n"
	quirks = "<meta charset=utf-8><title>x</title>\n"
	xmlTop = `<?xml version="1.0" encoding="utf-8"?>` + "\n"
	xhtml  = `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>`
)

// asks splits a list at white space.
func asks(list string) []string { return strings.Fields(list) }

// roundaboutLinks reach a page by other ways than its plain name.
var roundaboutLinks = []string{
	"dir/page.html#in", "./dir/page.html#in", "dir/../dir/page.html#in", "%64ir/page.html#in", "dir/./p%61ge.html#in", "dir/page.html?q=1#in",
	"dir/page.html?#in", "/dir/page.html#in", " dir/page.html#in ", "\tdir/pa\nge.html#i\nn", "dir\\page.html#in", "dir/page.html?a#b#in", "dir/page.html#out",
	"dir/page.html?in#", "dir/page.html?#out", " dir/page.html#out", "dir/page.html?in", "dir/page.html", "#", "#top", "#nope", "", "?q#nope", "links.html#nope",
}

// fragmentPages are the pages of TestChromiumFragments, also read by
// TestChromiumLinks.
func fragmentPages() []fragmentPage {
	pages := append(idPages(), elementPages()...)
	pages = append(pages, textPages()...)
	return append(pages, encodingPages()...)
}

// idPages: what a fragment must look like to hit an id or a name.
func idPages() []fragmentPage {
	long := strings.Repeat("x", 1<<20)
	names := `<a name=n1>x</a><map name=n2><area name=n3 href="x"></map><img name=n4 alt=""><form name=n5><input name=n6></form>
<meta name=n7 content=x><iframe name=n8></iframe><object name=n9></object><embed name=n10><p name=n11>x</p><svg><a name=n12>x</a></svg>
<a name="">x</a><a name=dup1 name=dup2>x</a><a id=both name=other>x</a><a name="é">x</a><a name="100%">x</a><a name="a b">x</a><a name="top2" id>x</a>
<math><a name=n13>x</a></math><svg><foreignObject><a name=n14>x</a></foreignObject></svg><template><a name=n15>x</a></template><button name=n16>x</button>
<a name="Foo">x</a><p id="Bar">x</p><a name="ÉCLAIR">x</a><p id=same>x</p><a name=SAME>x</a><a name="%41b">x</a><a name="KELVIN K">x</a><A NAME=UP>x</A>`
	askNames := asks(`n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11 n12 n13 n14 n15 n16 dup1 dup2 both other é %C3%A9 %c3%a9 100% 100%25 a%20b a+b top2
Foo foo FOO %46oo %66oo Bar bar BAR ÉCLAIR Éclair éclair %C3%89clair %C3%89CLAIR same SAME Same %41b %41B %2541b Ab KELVIN%20K kelvin%20k KELVIN%20%E2%84%AA UP up n1%20 N1`)
	transitional := `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"`
	caseAsks := asks(`Foo foo FOO Bar bar %66OO éclair Éclair ÉCLAIR`)
	pages := []fragmentPage{
		{"exact.html", std + `<p id="plain">x</p><p id="100%">x</p><p id="%C3%A0">x</p><p id="%zz">x</p><p id="%">x</p><p id="é">x</p><p id="a b">x</p><p id="a+b">x</p>
<p id="x%20y">x</p><p id="Case">x</p><p id="a#b">x</p><p id="a?b">x</p><p id='q"t'>x</p><p id="lt<">x</p><p id="gt>">x</p><p id="back` + "`" + `t">x</p><p id="%41">x</p>
<p id="nfc-é">x</p><p id="nfd-e` + "\u0301" + `">x</p><p id="日本">x</p><p id="😀">x</p><p id="back\slash">x</p><p id="a/b/../c">x</p><p id="{}|^[]">x</p><p id="a&amp;b">x</p><p id="%2">x</p>`,
			asks(`plain Plain plain%20 %70lain %2570lain pl%61in plain/ plain? 100% 100%25 100%2525 %C3%A0 %25C3%25A0 à %c3%a0 %zz %25zz %25%7A%7A %ZZ % %25 %2525
é %C3%A9 %c3%a9 e%CC%81 É %E9 a%20b a+b a%2Bb a%2bb a%2520b a%20%20b x%20y x%2520y x+y Case case CASE %43ase %63ase a#b a%23b a?b a%3Fb q"t q%22t lt< lt%3C gt> gt%3E
back` + "`" + `t back%60t %41 A %2541 nfc-é nfc-e%CC%81 nfd-e%CC%81 nfd-é nfd-%C3%A9 日本 %E6%97%A5%E6%9C%AC %e6%97%A5%e6%9c%ac 日 😀 %F0%9F%98%80 back\slash back%5Cslash a/b/../c a/c
a%2Fb%2F..%2Fc {}|^[] %7B%7D%7C%5E%5B%5D a&b a%26b a&amp;b %2 %252 nope`)},
		{"invalid-utf8.html", std + "<p id=\"x\ufffdy\">x</p><p id=\"\ufffd\">x</p><p id=\"three\ufffd\ufffd\ufffd\">x</p><p id=\"two\ufffd\ufffd\">x</p>",
			asks(`x%FFy x%C3y x%80y x%C0%80y x%EF%BF%BDy ` + "x\ufffdy" + ` %FF %FF%FF %C3 x%E2%82y x%F0%9F%98y x%ED%A0%80y x%C3%28y three%ED%A0%80 three%FF%FE%FD three%F4%90%80 three%E2%82%FF
two%C0%80 two%E2%82%FF two%F0%9F%FF two%80%80 two%F5%80 two%E0%80 two%C3%C3 x%FFz`)},
		{"bom.html", std + "<p id=\"\ufeffbom\">x</p><p id=bom2>x</p>", []string{"%EF%BB%BFbom", "\ufeffbom", "bom", "%EF%BB%BFbom2", "bom2", "%FE%FFbom"}},
		{"space.html", std + "<p id=\" lead\">x</p><p id=\"trail \">x</p><p id=\"two  sp\">x</p><p id=\"t\tab\">x</p><p id=\"n\nl\">x</p><p id=\"cr&#13;x\">x</p><p id=\"crlf\r\nx\">x</p><p id=\"rawcr\rx\">x</p><p id=\"f\fx\">x</p><p id=\"nb\u00a0sp\">x</p><p id=\"\n\">x</p><p id=\" \">x</p>",
			[]string{"%20lead", " lead", "lead", "trail%20", "trail ", "trail", "two%20%20sp", "two  sp", "two sp", "two%20sp", "t%09ab", "t\tab", "tab", "n%0Al", "n\nl", "nl", "cr%0Dx", "cr%0Ax", "cr\rx", "crlf%0Ax", "crlf%0D%0Ax", "crlf\r\nx", "crlfx", "rawcr%0Ax", "rawcr%0Dx", "f%0Cx", "f\fx", "fx", "nb%C2%A0sp", "nb\u00a0sp", "nb sp", "%0A", "%20", " ", "%20%20"}},
		{"names.html", std + names, askNames},
		{"names-quirks.html", quirks + names, askNames},
		{"names-transitional.html", transitional + ">\n" + quirks + names, caseAsks},
		{"names-transitional-system.html", transitional + ` "http://www.w3.org/TR/html4/loose.dtd">` + "\n" + quirks + names, caseAsks},
		{"names-legacy-compat.html", `<!DOCTYPE html SYSTEM "about:legacy-compat">` + quirks + names, caseAsks},
		{"names-html32.html", `<!doctype html public '-//W3C//DTD HTML 3.2 Final//EN'>` + quirks + names, caseAsks},
		{"names-strict.html", `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">` + quirks + names, caseAsks},
		{"names-xhtml1.html", `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "x">` + quirks + names, caseAsks},
		{"names-ibm.html", `<!DOCTYPE html SYSTEM "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd">` + quirks + names, caseAsks},
		{"names-fold.html", quirks + `<a name="straße">x</a><a name="ſt">x</a><a name="i` + "\u0307" + `">x</a><a name="ΣΑΣ">x</a><a name="𐐀">x</a><a name="ǅ">x</a><a name="ŒUVRE">x</a><a name="ﬁ">x</a><a name="Ω` + "\u2126" + `">x</a><a name="я">x</a><a name="µ">x</a><a name="ıı">x</a><a name="ẞẞ">x</a><a name="A` + "\u030a" + `">x</a>`,
			asks("straße STRASSE STRAßE STRAẞE strasse ſt st ST St İ i̇ I%CC%87 σας σασ ΣΑΣ ςας 𐐀 𐐨 Ǆ ǆ ǅ œuvre Œuvre fi FI ﬁ ωω ΩΩ ω%E2%84%A6 Я я µ μ Μ ıı II ii ßß ẞẞ SSSS ssss a%CC%8A å Å")},
		{"names-doctype-empty.html", "<!doctype>" + quirks + names, caseAsks},
		{"names-doctype-other.html", "<!doctype htm>" + quirks + names, caseAsks},
		{"names-doctype-case.html", " <!DocType\nHTML >" + quirks + names, caseAsks},
		{"names-doctype-eof.html", "<!doctype html public>" + quirks + names, caseAsks},
		{"names-doctype-broken.html", "<!doctype html bogus>" + quirks + names, caseAsks},
		{"names-comment-first.html", "<!-- x --><?xml version='1.0'?>" + std + names, caseAsks},
		{"names-text-first.html", "x" + std + names, caseAsks},
		{"names-bom-first.html", "\ufeff" + std + names, caseAsks},
		{"names-late-doctype.html", "<p>x</p>" + std + names, caseAsks},
		{"names-end-tag-first.html", "</p>" + std + names, caseAsks},
		{"top.html", std + "<p id=other>x</p>", []string{"", "top", "TOP", "Top", "tOp", "%74op", "TO%50", "top%20", "top ", "top/", "ｔｏｐ", "top%00", ":~:text=zz", "top:~:text=zz", "top%3A~%3Atext=zz", "nope:~:text=zz", "toр", "TOP:~:", "to\np", "%2574op", "other", "%54%4f%50"}},
		{"top-ids.html", std + "<p id=top>x</p><p id=TOP>x</p>", asks("top TOP Top %74op")},
		{"directive.html", std + `<p id=id>x</p><p id="a:~:b">x</p><p id="id:~text">x</p><p id="c:~d">x</p>`,
			asks("id:~:text=zz id:~:text=zy,yz&text=zx id:~: id:~:unknown :~:text=zz :~: nope:~:text=zz nope:~: id%3A~%3Atext=zz id:~text=zz id:~text a:~:b a%3A~%3Ab a%3A~:b id:~:text=zz:~:zy nope:~:id %69d:~:text=zz c:~d c:~d:~:x id%20:~:text=zz id:%7E:text=zz top:~:text=zz top:~:")},
		{"routes.html", std + `<p id="/has">x</p><p id="!bang">x</p><p id="L3">x</p><p id="page=4">x</p>`,
			asks("/route !x L10 page=2 /has /has/ %2Fhas !bang %21bang !/bang L3 L3-L9 page=4 /has?x=1 / ! zoom=50 t=10 svgView(viewBox(0,0,1,1)) xpointer(id(x)) xywh=1,2,3,4")},
		{"empty-id.html", std + `<p id="">x</p><p id>y</p><a name>z</a><p id=''>w</p><p id=real>v</p>`, []string{"", "real", "id", "%20", "undefined", "null"}},
		{"long.html", std + "<p id=" + long + ">x</p>", []string{long, long[1:], long + "x", "x"}},
		{"twice.html", std + "<p id=a>1</p><p id=a>2</p><a name=b>1</a><a name=b>2</a>", asks("a b A B")},
		{"refresh.html", std + `<meta http-equiv=refresh content="3600; url=exact.html"><p id=here>x</p>`, asks("here plain")},
		{"base.html", "<!doctype html><base href='/exact.html'><p id=here>x</p><a href='#here'>x</a>", asks("here plain")},
		{"dir/page.html", std + "<p id=in>x</p>", asks("in out")},
		{"image.svg", `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 99999" height="99999"><g id="g1"><title id="t1">x</title><a id="a1" name="n1"/></g><!-- <g id="c1"/> --><style id="s1"><![CDATA[ <g id="d1"/> ]]></style><defs><path id="p1" ID="P2"/></defs></svg>`,
			asks("g1 t1 a1 n1 c1 s1 d1 p1 P2 G1 nope")},
	}
	return pages
}

// encodingPages: which characters an id is made of.
func encodingPages() []fragmentPage {
	const e8, e1 = "<p id=\"\xc3\xa9\">x</p>", "<p id=\"\xe9\">x</p>"
	askE := asks("é %C3%A9 %E9 Ã© %C3%83%C2%A9 %EF%BF%BD plain")
	const rest = "<p id=plain>x</p>"
	utf16le := "\xff\xfe"
	utf16be := "\xfe\xff"
	for _, u := range utf16.Encode([]rune("<!doctype html><title>x</title><p id='é'>x</p><p id=plain>x</p><a href='é.html?é#é'>x</a>")) {
		utf16le += string([]byte{byte(u), byte(u >> 8)})
		utf16be += string([]byte{byte(u >> 8), byte(u)})
	}
	late := "<!doctype html><!--" + strings.Repeat("x", 3000) + "--><meta charset="
	return []fragmentPage{
		{"enc-utf8.html", "<!doctype html><meta charset=UTF-8>" + e8 + rest, askE},
		{"enc-bom-over-meta.html", "\ufeff<!doctype html><meta charset=iso-8859-1>" + e8 + rest, askE},
		{"enc-late-utf8.html", late + "utf-8>" + e8 + rest, askE},
		{"enc-late-1252.html", late + "windows-1252>" + e8 + rest, askE},
		{"enc-utf16-in-meta.html", "<!doctype html><meta charset=utf-16>" + e8 + rest, askE},
		{"enc-undeclared.html", "<!doctype html>" + e8 + rest, askE},
		{"enc-latin1.html", "<!doctype html><meta charset=latin1>" + e1 + e8 + rest + "<p id=\"\x80\">x</p>", append(asks("€ %E2%82%AC %C2%80 %80"), askE...)},
		{"enc-latin1-as-utf8.html", "<!doctype html><meta charset=utf-8>" + e1 + rest, askE},
		{"enc-http-equiv.html", "<!doctype html><meta http-equiv=Content-Type content='text/html; charset = \"windows-1251\"'>" + e1 + rest, append(asks("й %D0%B9"), askE...)},
		{"enc-http-equiv-order.html", "<!doctype html><meta content='text/html; charset=utf-8' http-equiv=content-type>" + e8 + rest, askE},
		{"enc-meta-in-comment.html", "<!doctype html><!-- <meta charset=utf-8> -->" + e8 + rest, askE},
		{"enc-meta-in-script.html", "<!doctype html><style><meta charset=utf-8></style><title><meta charset=utf-8></title>" + e8 + rest, askE},
		{"enc-meta-in-body.html", "<!doctype html><p>x</p><meta charset=utf-8>" + e8 + rest, askE},
		{"enc-two-metas.html", "<!doctype html><meta charset=nonsense><meta charset=utf-8><meta charset=latin1>" + e8 + rest, askE},
		{"enc-x-user-defined.html", "<!doctype html><meta charset=x-user-defined>" + e1 + rest, askE},
		{"enc-sjis.html", "<!doctype html><meta charset=Shift_JIS><p id=\"\x93\xfa\x96\x7b\">x</p><p id=\"\x95\x5c\">x</p>" + rest, asks("日本 %E6%97%A5%E6%9C%AC %93%FA%96%7B 表 plain nope")},
		{"enc-gbk.html", "<!doctype html><meta charset=gb2312><p id=\"\xc8\xd5\xb1\xbe\">x</p>" + rest, asks("日本 %E6%97%A5%E6%9C%AC %C8%D5%B1%BE plain")},
		{"enc-eucjp.html", "<!doctype html><meta charset=euc-jp><p id=\"\xc6\xfc\xcb\xdc\">x</p>" + rest, asks("日本 %C6%FC%CB%DC plain")},
		{"enc-big5.html", "<!doctype html><meta charset=big5><p id=\"\xa4\xa4\xb3\x5c\">x</p>" + rest, asks("中許 中 plain")},
		{"enc-koi8.html", "<!doctype html><meta charset=koi8-r><p id=\"\xc6\">x</p>" + rest, asks("ф Æ plain")},
		{"enc-iso2022jp.html", "<!doctype html><meta charset=iso-2022-jp><p id=\"\x1b$BF|K\\\x1b(B\">x</p>" + rest, asks("日本 plain")},
		{"enc-utf16le.html", utf16le, askE},
		{"enc-utf16be.html", utf16be, askE},
		{"enc-utf7.html", "<!doctype html><meta charset=utf-7><p id='+AOk-'>x</p>" + rest, asks("é +AOk- plain")},
	}
}
