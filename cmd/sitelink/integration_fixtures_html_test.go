//go:build integration && linux

package main_test

import "strings"

// elementPages: whether an id counts depends on the place of its element in the
// tree.
func elementPages() []fragmentPage {
	nested := std + strings.Repeat("<div>", 700) + "<p id=deep>x</p>" + strings.Repeat("</div>", 700) + "<p id=after>x</p>"
	inline := std + strings.Repeat("<b>", 600) + "<i id=deep>x</i><p id=after>x</p>"
	return []fragmentPage{
		{"head.html", `<!doctype html id=dt><html id=h1><head id=h2><meta id=h3 charset=utf-8><title id=h4>x</title><base id=h5 target=_self><link id=h6 rel=x href="#h1"><style id=h7></style>` +
			`<noscript id=h8><link id=h9 rel=x href="#"></noscript></head><body id=h10><p id=h11><br id=h12><hr id=h13><wbr id=h14>`, asks("dt h1 h2 h3 h4 h5 h6 h7 h8 h9 h10 h11 h12 h13 h14")},
		{"foreign.html", std + `<svg id=s1><g id=s2><title id=s3><p id=s4>x</p></title><a id=s5 xml:id=s6><text id=s7>x</text></a></g><foreignObject id=s8><div id=s9>x</div></foreignObject><desc id=s10>x</desc><style id=s11><g id=s12></g></style>
<script id=s13 type=none><g id=s14/></script><image id=s15 /><![CDATA[ <g id=s16> ]]><g id=s17/><g id=s18></g></svg><math id=m1><mi id=m2>x</mi><annotation-xml id=m3 encoding=text/html><p id=m4>x</p></annotation-xml><mtext id=m5><p id=m6>x</p></mtext><![CDATA[<mi id=m7>]]></math>
<svg><g id=b1><p id=b2>breaks out</p></g></svg><svg><title><![CDATA[<i id=b3>]]></title><textarea id=b4><g id=b5></textarea></svg><svg><b id=b6>x</b></svg><svg><font id=b7><g id=b8></font><font color=x id=b9></font></svg><svg><template id=b10><g id=b11/></template></svg>
<svg><iframe id=b12><g id=b13></iframe><noscript><g id=b14></noscript><xmp><g id=b15></xmp><plaintext><g id=b16></plaintext></svg><![CDATA[<p id=b17>]]><math><annotation-xml><svg><![CDATA[<g id=b18>]]></svg></annotation-xml><mi><svg id=b19></svg></mi></math>`,
			asks("s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 s12 s13 s14 s15 s16 s17 s18 m1 m2 m3 m4 m5 m6 m7 b1 b2 b3 b4 b5 b6 b7 b8 b9 b10 b11 b12 b13 b14 b15 b16 b17 b18 b19")},
		{"containers.html", std + `<object id=o1><p id=o2>x</p></object><video id=o3><p id=o4>x</p></video><canvas id=o5><p id=o6>x</p></canvas><details id=o7><p id=o8>x</p></details><dialog id=o9><p id=o10>x</p></dialog>
<datalist id=o11><option id=o12></datalist><noscript id=o13><p id=o14>x</p></noscript><p hidden id=o15>x</p><p style="display:none" id=o16>x</p><audio><p id=o17>x</p></audio><picture id=o18><source id=o19><img id=o20></picture>
<button id=o21><p id=o22>x</p></button><fieldset id=o23><legend id=o24>x</legend></fieldset><ruby><rb id=o25>x<rt id=o26>x<rp id=o27>x</ruby><marquee id=o28><p id=o29>x</p></marquee><custom-element id=o30><p id=o31>x</p></custom-element><image id=o32><p inert id=o33>x</p>`,
			asks("o1 o2 o3 o4 o5 o6 o7 o8 o9 o10 o11 o12 o13 o14 o15 o16 o17 o18 o19 o20 o21 o22 o23 o24 o25 o26 o27 o28 o29 o30 o31 o32 o33")},
		{"select.html", std + `<select id=e1><option id=e2>x<optgroup id=e3><option id=e4>y</option></optgroup><hr id=e5><div id=e6>x</div><p id=e7>x</p><img id=e8><a id=e9 href="#e1">x</a><svg id=e10></svg><table id=e11><tr id=e12><td id=e13>x</table><b id=e14>x</b>
<button id=e15>x</button><template><p id=e16></template></select><select><option><select id=e17><p id=e18>after</p></select><select><input id=e19><p id=e20>x</p></select><select><textarea id=e21></textarea><script type=x id=e22></script></select>
<table><tr><td><select><tr id=e23><td id=e24></select></table><select><keygen id=e25><label id=e26><form id=e27></form></label></select>`,
			asks("e1 e2 e3 e4 e5 e6 e7 e8 e9 e10 e11 e12 e13 e14 e15 e16 e17 e18 e19 e20 e21 e22 e23 e24 e25 e26 e27")},
		{"tables.html", std + `<td id=t1>x</td><tr id=t2></tr><caption id=t3></caption><col id=t4><tbody id=t5></tbody><colgroup id=t6></colgroup><thead id=t7></thead><table id=t8><p id=t9>foster</p><caption id=t10>x</caption><colgroup id=t11><col id=t12><p id=t13>x</p></colgroup>
<tbody id=t14><div id=t15>x</div><tr id=t16><b id=t17>x</b><td id=t18>x<table id=t19><td id=t20></table><form id=t21></form><th id=t22>x<tfoot id=t23></table><table><form id=t24><tr><td><form id=t25></form></table><table><input type=hidden id=t26><input id=t27><tr id=t28><caption id=t29>
</table><table><a id=t30 href="#t1">x</a><tr><a name=t31>x</a></table><table><tr><td><body id=t32><html id=t33><col id=t34><caption id=t35></table><table><select id=t36><tr id=t37></table><table><table id=t38></table></table><th id=t39><table><style id=t40></style><script type=x id=t41></script><template id=t42></template></table>`,
			asks("t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11 t12 t13 t14 t15 t16 t17 t18 t19 t20 t21 t22 t23 t24 t25 t26 t27 t28 t29 t30 t31 t32 t33 t34 t35 t36 t37 t38 t39 t40 t41 t42")},
		{"late-body.html", "<!doctype html><meta charset=utf-8><p id=l1>x</p><body id=l2><html id=l3><body id=l4><html id=l5><head id=l6><p id=l7>", asks("l1 l2 l3 l4 l5 l6 l7")},
		{"late-set.html", "<!doctype html><html id=l1><body id=l2><p>x</p><body id=l3><html id=l4>", asks("l1 l2 l3 l4")},
		{"late-nested.html", "<!doctype html><html><body><div><p><body id=l1></p></div><svg><body id=l2></svg><template><body id=l3><html id=l4></template><math><mi><html id=l5></mi></math>", asks("l1 l2 l3 l4 l5")},
		{"after-html.html", std + "<p id=a1>x</p></body><p id=a2>x</p></html><p id=a3>x</p><!-- x --><a name=a4>x</a></html></body><div id=a5>", asks("a1 a2 a3 a4 a5")},
		{"template.html", std + `<template id=p1><p id=p2>x</p><template id=p3><p id=p4>x</p></template><script type=x></template></script><p id=p5>x</p></template><p id=p6>x</p><div id=p7><template shadowrootmode=open id=p8><p id=p9>x</p><slot id=p10></slot></template><p id=p11>slotted</p></div>
<table><template><td id=p12></template><tr><template id=p13><td id=p14></template></table><select><template><option id=p15></template></select></template><p id=p16>x</p><div><template shadowrootmode=nonsense id=p17><p id=p18></p></template></div><template><svg><template id=p19></svg></template><p id=p20>x</p></template><p id=p21>x</p>`,
			asks("p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15 p16 p17 p18 p19 p20 p21")},
		{"template-open.html", std + "<p id=q1>x</p><template><p id=q2>x</p></div></body><p id=q3>x</p>", asks("q1 q2 q3")},
		{"ignored.html", std + `<p id=i1>x</p id=i2></div id=i3></br id=i4></p id=i5><frame id=i6><head id=i7><form id=i8><form id=i9><p id=i10></form><form id=i11></form><frameset id=i12></frameset><isindex id=i13><keygen id=i14><menuitem id=i15>x</menuitem>
<nobr id=i16><nobr id=i17>x</nobr><a id=i18 href=x><a id=i19 href=y>x</a><button id=i20><button id=i21>x</button><h1 id=i22><h2 id=i23>x</h1><li id=i24><li id=i25><option id=i26><option id=i27><bgsound id=i28><basefont id=i29><param id=i30><source id=i31><track id=i32><area id=i33>`,
			asks("i1 i2 i3 i4 i5 i6 i7 i8 i9 i10 i11 i12 i13 i14 i15 i16 i17 i18 i19 i20 i21 i22 i23 i24 i25 i26 i27 i28 i29 i30 i31 i32 i33")},
		{"frameset.html", "<!doctype html><meta charset=utf-8><html id=f1><frameset id=f2 rows=1000,20000><frame id=f3><noframes id=f4><p id=f5>x</p></noframes><p id=f6>x</p><frameset id=f7></frameset><script type=x id=f8></script></frameset><p id=f9>x</p><noframes id=f10></noframes>", asks("f1 f2 f3 f4 f5 f6 f7 f8 f9 f10")},
		{"late-frameset.html", "<!doctype html><meta charset=utf-8><div id=f1><br id=f2></div><frameset id=f3><frame id=f4></frameset>", asks("f1 f2 f3 f4")},
		{"late-frameset-replaces.html", "<!doctype html><meta charset=utf-8><div id=f1><p id=f2></div><frameset id=f3><frame id=f4></frameset>", asks("f1 f2 f3 f4")},
		{"no-frameset.html", std + "x<p id=f1></p><frameset id=f2><frame id=f3></frameset><p id=f4>", asks("f1 f2 f3 f4")},
		{"nested.html", nested, asks("deep after nope")},
		{"nested-inline.html", inline, asks("deep after nope")},
		{"misnested.html", std + "<b id=m1><p id=m2><i id=m3>x</b><u id=m4>y</p></i>z</u><a id=m5 href=x><div id=m6><a id=m7 href=y>x</a></div>", asks("m1 m2 m3 m4 m5 m6 m7")},
	}
}

// textPages: what is markup and what is only text, a comment or an attribute.
func textPages() []fragmentPage {
	return []fragmentPage{
		{"comments.html", std + `<!-- <p id=c1> --><p id=c2>x</p><!-- <p id=c3> --!><p id=c4>x</p><!--><p id=c5>x</p><!---><p id=c6>x</p><!-- <!-- <p id=c7> --><p id=c8>x</p><!----><p id=c9>x</p><!--x-- ><p id=c10>--><p id=c11>x</p>
<?pi <p id=c12><p id=c13>x</p><!decl <p id=c14><p id=c15>x</p></ x <p id=c16><p id=c17>x</p><![CDATA[ <p id=c18><p id=c19>]]> x</p><![CDATA[x]]><p id=c20>x</p><!><p id=c21>x</p><!-><p id=c22>x</p></><p id=c23>x</p><?><p id=c24>x</p><% <p id=c25> %><p id=c26>x</p>
<!-- --- --- <p id=c27> ---><p id=c28>x</p><!--- <p id=c29> --->x<p id=c30>x</p><!-- - -- -!> <p id=c31> --!x> <p id=c32> --!><p id=c33>x</p><!DOCTYPE x <p id=c34><p id=c35>x</p><3 <p id=c36>< p id=c37></3 id=c38><p id=c39>x</p><!-- <p id=c40>`,
			asks("c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12 c13 c14 c15 c16 c17 c18 c19 c20 c21 c22 c23 c24 c25 c26 c27 c28 c29 c30 c31 c32 c33 c34 c35 c36 c37 c38 c39 c40")},
		{"script.html", std + `<script id=r1><p id=r2></script><p id=r3>x</p><script type=text/x-template><p id=r4></script ><p id=r5>x</p><script><!-- <p id=r6> </script><p id=r7>x</p><script><!-- <script> <p id=r8> </script> <p id=r9> --> </script><p id=r10>x</p>
<script>"<!-- </scr" <p id=r11></script/><p id=r12>x</p><script src=x /><p id=r13></script><p id=r14>x</p><script></scriptx><p id=r15></script
><p id=r16>x</p><SCRIPT><p id=r17></ScRiPt id=r18><p id=r19>x</p><script><!--<scriptx </script><p id=r20>x</p><script><!-- <script </script> <p id=r21> </script><p id=r22>--></script><p id=r23>x</p>`,
			asks("r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 r23")},
		{"script-open.html", std + "<p id=u1>x</p><script><!-- <script> </script> <p id=u2>", asks("u1 u2")},
		{"rawtext.html", std + `<style id=w1><p id=w2></style><p id=w3>x</p><textarea id=w4><p id=w5></textarea><p id=w6>x</p><title id=w7><p id=w8></title><p id=w9>x</p><iframe id=w10><p id=w11></iframe><p id=w12>x</p><noembed id=w13><p id=w14></noembed><p id=w15>x</p>
<noframes id=w16><p id=w17></noframes><p id=w18>x</p><xmp id=w19><p id=w20></xmp><p id=w21>x</p><style><!-- </style><p id=w22>x</p><textarea></textareax><p id=w23></textarea/><p id=w24>x</p><style/><p id=w25></style><p id=w26>x</p><iframe/><p id=w27></iframe><p id=w28>x</p><listing id=w29><p id=w30></listing><pre id=w31>
<p id=w32></pre><noscript><style></noscript><p id=w33></style><p id=w34>x</p><title></TITLE
><p id=w35>x</p><xmp></xm</xmp ><p id=w36>x</p>`,
			asks("w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16 w17 w18 w19 w20 w21 w22 w23 w24 w25 w26 w27 w28 w29 w30 w31 w32 w33 w34 w35 w36")},
		{"plaintext.html", std + "<p id=x1>x</p><plaintext id=x2><p id=x3></plaintext><p id=x4>", asks("x1 x2 x3 x4")},
		{"textarea-open.html", std + "<p id=x1>x</p><textarea id=x2><p id=x3>", asks("x1 x2 x3")},
		{"unterminated-tag.html", std + "<p id=y1>x</p><p id=y2 class=\"x", asks("y1 y2")},
		{"unterminated-quote.html", std + "<p id=y1>x</p><p id=\"y2><p id=y3>x</p><p id=y4>x</p>", asks("y1 y2 y3 y4 y2%3E%3Cp%20id=y3%3Ex%3C/p%3E")},
		{"quote-swallows.html", std + "<p id=y1>x</p><a title=\"open><p id=y2>x</p><p id=\"y3\">x</p><p id=y4>x</p>", asks("y1 y2 y3 y4")},
		{"attributes.html", std + `<p id=z1 >x</p><p id=unq2/><p id=unq3 /><p/id=z4/><p id="z5"class=y><p id = 'z6'><p id
=
z7><p id=a"b><p id=a'b2><p id=z=1><p id=z8 id=z9><p ID=z10><p xml:id=z11><p data-id=z12><p "id=z13><p id==z14><p =id=z15><p id="z16" / class><p / id=z17><p id=z18<x><p id=z<19><p title='>' id=z20><p title=">" id=z21><p title=a>id=z22><p class=x/id=z23><p
id=z24><p id='z25'id=z26><p a/=id id=z27><p id=` + "`z28`" + `><p id="z29' id=z30" id=z31><p Id="Z32"><div` + "\f" + `id=z33><p id="z34"/><p id=z35&#32;x><p id:=z36><p id.x=z37><p_id=z38><p id="z39"x="y"id="z40">`,
			asks("z1 unq2/ unq2 unq3 unq3/ z4 z4/ z5 z6 z7 a\"b a%22b a'b2 z=1 z8 z9 z10 z11 z12 z13 =z14 z14 z15 id=z15 z16 z17 z18<x z18 z<19 z%3C19 z20 z21 z22 z23 z24 z25 z26 z27 `z28` z28 z29 z29'%20id=z30 z30 z31 Z32 z32 z33 z34 z35%20x z35 z36 z37 z38 z39 z40")},
		{"references.html", std + `<p id="&copy;a"><p id="&copyb"><p id="&copy=c"><p id="&notit;d"><p id="&#128;e"><p id="&#0;f"><p id="&#xD800;g"><p id="&#x110000;h"><p id="&#65;i"><p id="&#x42j"><p id="&#67k"><p id="&amp;amp;l"><p id=&lt;m><p id="&unknown;n"><p id="&#o"><p id="&#x;p"><p id="&notin;q"><p id="&amp"><p id="r&"><p id="&AMP;s"><p id="&nbsp;t"><p id="&Aacute;u"><p id="&NotEqualTilde;v"><p id="&#x1F600;w"><p id="&#99999999999;x"><p id="&ampy"><p id="&amp=z"><p id="&COPY1">`,
			asks("©a &copy;a ©b &copyb &copy=c ©=c &notit;d ¬it;d €e %E2%82%ACe %C2%80e \ufffdf %00f \ufffdg \ufffdh Ai Bj Ck &amp;l &l <m &lt;m &unknown;n &#o &#x;p ∉q & &amp r& &s %C2%A0t Áu %E2%89%82%CC%B8v 😀w \ufffdx &y &ampy &amp=z &=z &COPY1 ©1")},
		{"nul.html", std + "<p id=\"a\x00b\">x</p><p i\x00d=c>x</p><p id=d\x00>x</p><p id=e>\x00</p><p\x00 id=f>x</p><svg><g id=g\x00/></svg><p \x00 id=h><!-- \x00 --><p id=i>", asks("a\ufffdb a%EF%BF%BDb a%00b ab c d\ufffd d e f g\ufffd/ g\ufffd h i")},
		{"xhtml.xhtml", xmlTop + xhtml + `<p id="k1">x</p><p ID="k2">x</p><P id="k3">x</P><a name="k4">x</a><a xmlns="urn:x" name="k5">x</a><a xmlns="urn:x" id="k6">x</a><![CDATA[<p id="k7"/>]]><template id="k8"><p id="k9">x</p></template><script type="x"><p id="k10"/></script><textarea id="k11"><p id="k12"/></textarea>
<p id="k
13">x</p><p id="k&#10;14">x</p><p id=" k15 ">x</p><!-- <p id="k16"/> --><?pi <p id="k17"/>?><p id="k&amp;18">x</p><x:p xmlns:x="http://www.w3.org/1999/xhtml" id="k19">x</x:p><p xml:id="k20">x</p><p x:id="k21" xmlns:x="urn:x">x</p><svg xmlns="http://www.w3.org/2000/svg"><a name="k22" id="k23"/></svg><div id="k24"/><x:a xmlns:x="http://www.w3.org/1999/xhtml" name="k25">x</x:a><style id="k26"><p id="k27"/></style><title id="k28"><b id="k29"/></title><p id='k30'>é</p><A name="k31"/><p id="é">x</p><iframe id="k32"><p id="k33"/></iframe><noscript><p id="k34"/></noscript></body></html>`,
			asks("k1 k2 k3 k4 k5 k6 k7 k8 k9 k10 k11 k12 k%2013 k%0A13 k13 k%0A14 k%2014 %20k15%20 k15 k16 k17 k&18 k19 k20 k21 k22 k23 k24 k25 k26 k27 k28 k29 k30 k31 k32 k33 k34 é %C3%A9 K4 k1%20")},
		{"broken.xhtml", xmlTop + xhtml + `<p id="k1">x</p><div id="k2"><p id="k3">x</div><p id="k4">x</p></body></html>`, asks("k1 k2 k3 k4")},
		{"entity.xhtml", xmlTop + `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">` + xhtml + `<p id="k1&eacute;">x</p><p id="k2">&nbsp;</p></body></html>`, asks("k1é k1 k2")},
		{"entity-unknown.xhtml", xmlTop + xhtml + `<p id="k1">x</p><p>&eacute;</p><p id="k2">x</p></body></html>`, asks("k1 k2")},
		{"duplicate.xhtml", xmlTop + xhtml + `<p id="k1">x</p><p id="k2" id="k3">x</p><p id="k4">x</p></body></html>`, asks("k1 k2 k3 k4")},
		{"after-root.xhtml", xmlTop + xhtml + `<p id="k1">x</p></body></html><p id="k2"/>`, asks("k1 k2")},
		{"xhtml-as.html", xmlTop + `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">` + xhtml + `<a id="j1"/><div id="j2"/><p id="j3"/><![CDATA[<p id="j4">x</p>]]><script type="x"/><p id="j5">x</p></script><p id="j6">x</p><textarea id="j7"/><p id="j8">x</p>`, asks("j1 j2 j3 j4 j5 j6 j7 j8")},
	}
}
