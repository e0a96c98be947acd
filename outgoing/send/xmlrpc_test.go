package send

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/testkit"
)

const prologText = `<?xml version="1.0"?>` + "\n"

func faultBody(code, text string) string {
	return prologText + `<methodResponse><fault><value><struct><member><name>faultCode</name><value>` + code +
		`</value></member><member><name>faultString</name><value>` + text + `</value></member></struct></value></fault></methodResponse>` + "\n"
}

func successBody(value string) string {
	return prologText + `<methodResponse><params><param><value>` + value + `</value></param></params></methodResponse>`
}

// TestReply has responses of servers. Some reader of XML-RPC is known to have
// failed on each of them. PB-37 to PB-39, PB-53.
func TestReply(t *testing.T) {
	const unread = -1 << 20 // a fault whose code cannot be read
	var (
		ok       = func(text string) reply { return reply{text: text} }
		failed   = func(code int, text string) reply { return reply{fault: &fault{code, code != unread, text}} }
		notReply = reply{text: "\x00no XML-RPC"}
		damaged  = reply{text: "\x00damaged"}
	)
	for _, test := range []struct {
		name, contentType, body string
		want                    reply
	}{
		// Correct responses.
		{"PB-38 success", "", successBody("<string>Pingback registered.</string>"), ok("Pingback registered.")},
		{"PB-39 fault", "", faultBody("<int>17</int>", "<string>source does not link to target</string>"), failed(17, "source does not link to target")},
		{"WordPress 48", "", faultBody("<int>48</int>", "<string>The pingback has already been registered.</string>"), failed(48, "The pingback has already been registered.")},
		{"WordPress masked 0", "", faultBody("<int>0</int>", "<string></string>"), failed(0, "")},
		{"negative code", "", faultBody("<i4>-32601</i4>", "<string>no such method</string>"), failed(-32601, "no such method")},
		{"PB-53 untyped success", "", successBody("registered"), ok("registered")},

		// ProblemCodes and texts of other types.
		{"code as string", "", faultBody("<string>48</string>", "<string>x</string>"), failed(48, "x")},
		{"code untyped", "", faultBody("48", "x"), failed(48, "x")},
		{"code between white space", "", faultBody("<int> 48\n</int>", "<string>x</string>"), failed(48, "x")},
		{"code that is not a number", "", faultBody("<string>soon</string>", "<string>x</string>"), reply{fault: &fault{0, false, "x"}}},
		{"code too large", "", faultBody("<int>99999999999999999999</int>", "<string>x</string>"), reply{fault: &fault{0, false, "x"}}},
		{"names between white space (go-jamming)", "",
			`<methodResponse><fault><value><struct><member><name> faultCode </name><value><int>48</int></value></member></struct></value></fault></methodResponse>`, failed(48, "")},
		{"empty value before the code", "",
			`<methodResponse><fault><value><struct><member><name>faultString</name><value/></member><member><name>faultCode</name><value><int>48</int></value></member></struct></value></fault></methodResponse>`, failed(48, "")},
		{"empty value with an end tag before the code", "",
			`<methodResponse><fault><value><struct><member><name>faultString</name><value></value></member><member><name>faultCode</name><value><int>48</int></value></member></struct></value></fault></methodResponse>`, failed(48, "")},
		{"CDATA within a text", "", faultBody("<int>17</int>", "<string>no <![CDATA[<link> &]]> here</string>"), failed(17, "no <link> & here")},
		{"text before the code", "",
			`<methodResponse><fault><value><struct><member><name>faultString</name><value><string>x</string></value></member><member><name>faultCode</name><value><int>33</int></value></member></struct></value></fault></methodResponse>`, failed(33, "x")},

		// Faults of another shape.
		{"blank in the tag", "", strings.Replace(faultBody("<int>17</int>", "x"), "<fault>", "<fault >", 1), failed(17, "x")},
		{"fault without value (old rTorrent)", "",
			`<methodResponse><fault><struct><member><name>faultCode</name><value><i4>-503</i4></value></member></struct></fault></methodResponse>`, failed(-503, "")},
		{"fault with a number (Serendipity)", "",
			`<methodResponse><fault><value><i4>0</i4></value></fault></methodResponse>`, failed(0, "")},
		{"fault with a text", "", `<methodResponse><fault><value>go away</value></fault></methodResponse>`, reply{fault: &fault{0, false, "go away"}}},
		{"fault without methodResponse", "", `<fault><value><struct><member><name>faultCode</name><value><int>16</int></value></member></struct></value></fault>`, failed(16, "")},
		{"fault with nothing in it", "", `<methodResponse><fault/></methodResponse>`, reply{fault: &fault{}}},

		// Successes that look like something else.
		{"fault in CDATA of a success", "", successBody("<string><![CDATA[<fault><value><i4>17</i4></value></fault>]]></string>"), ok("<fault><value><i4>17</i4></value></fault>")},
		{"fault in a comment of a success", "", successBody("<!-- <fault> </fault> --><string>ok</string>"), ok("ok")},
		{"success boolean", "", successBody("<boolean>1</boolean>"), ok("1")},
		{"success int", "", successBody("<int>100</int>"), ok("100")},
		{"success struct", "", successBody("<struct><member><name>a</name><value>b</value></member></struct>"), ok("ab")},
		{"success nil", "", successBody("<nil/>"), ok("")},
		{"success without text", "", successBody("<string></string>"), ok("")},
		{"success without param", "", prologText + `<methodResponse><params/></methodResponse>`, ok("")},

		// Text around the response.
		{"byte order mark", "", "\uFEFF" + successBody("ok"), ok("ok")},
		{"PHP warning before a success", "", "<br />\n<b>Warning</b>: x in <b>/var/y.php</b> on line <b>3</b><br />\n" + successBody("ok"), ok("ok")},
		{"PHP warning before a fault", "", "<br />\n<b>Notice</b>: a & b<br />\n" + faultBody("<int>48</int>", "x"), failed(48, "x")},
		{"PHP notice behind a fault", "", faultBody("<int>48</int>", "x") + "<br /><b>Notice", failed(48, "x")},
		{"comment behind a success", "", successBody("ok") + "\n<!-- 0.02 s -->\n", ok("ok")},
		{"text behind a success", "", successBody("ok") + "<br />", damaged},
		{"two answers", "", successBody("ok") + `<methodResponse><params/></methodResponse>`, damaged},
		{"success in a comment", "", `<html><!-- <methodResponse><params/></methodResponse> --></html>`, damaged},

		// Damage.
		{"HTML", "text/html", "<!DOCTYPE html><html><title>Hi</title></html>", notReply},
		{"empty", "", "", notReply},
		{"text", "text/plain", "XML-RPC server accepts POST requests only.", notReply},
		{"other XML", "", prologText + "<rss/>", notReply},
		{"call in place of an answer", "", prologText + "<methodCall><methodName>x</methodName></methodCall>", notReply},
		{"neither", "", prologText + "<methodResponse></methodResponse>", damaged},
		{"cut success", "", successBody("ok")[:60], damaged},
		{"cut fault", "", faultBody("<int>48</int>", "x")[:120], failed(48, "")},
		{"cut before the code", "", faultBody("<int>48</int>", "x")[:70], reply{fault: &fault{}}},
		{"bare ampersand in a fault", "", faultBody("<int>17</int>", "<string>a & b</string>"), failed(17, "a & b")},
		{"bare ampersand in a success", "", successBody("<string>a & b</string>"), damaged},
		{"HTML entity in a fault", "", faultBody("<int>17</int>", "<string>a&nbsp;b</string>"), failed(17, "a\u00a0b")},
		{"end tag missing in a fault", "", strings.Replace(faultBody("<int>17</int>", "x"), "</int>", "", 1), failed(17, "x")},
		{"entity of a DTD", "", `<!DOCTYPE m [<!ENTITY b "` + strings.Repeat("b", 99) + `">]>` + successBody("<string>&b;</string>"), damaged},
		{"nested without end", "", "<methodResponse><params>" + strings.Repeat("<a>", 20000), damaged},

		// Encodings.
		{"Latin-1 declared", "", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>" + "<methodResponse><params><param><value>gr\xFC\xDFe</value></param></params></methodResponse>", ok("grüße")},
		{"Latin-1 by the header", "text/xml; charset=iso-8859-1", "<methodResponse><params><param><value>\xE9</value></param></params></methodResponse>", ok("é")},
		{"Latin-1 not declared", "", faultBody("<int>48</int>", "<string>d\xE9j\xE0</string>"), failed(48, "d\uFFFDj\uFFFD")},
		{"UTF-16 declared over UTF-8", "", "<?xml version=\"1.0\" encoding=\"utf-16\"?>" + "<methodResponse><params><param><value>ok</value></param></params></methodResponse>", ok("ok")},
		{"UTF-16", "", "\xFF\xFE" + wide(successBody("ok")), ok("ok")},
		{"unknown encoding", "", "<?xml version=\"1.0\" encoding=\"x-klingon\"?>" + "<methodResponse><params><param><value>ok</value></param></params></methodResponse>", ok("ok")},
		{"control character", "", faultBody("<int>48</int>", "<string>a\x01b</string>"), failed(48, "a\uFFFDb")},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := decodeReply([]byte(test.body), test.contentType)
			switch test.want.text {
			case notReply.text:
				if !errors.Is(err, errNotXMLRPC) {
					t.Errorf("%+v, %v", got, err)
				}
				return
			case damaged.text:
				if err == nil || errors.Is(err, errNotXMLRPC) {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			testkit.Check(t, err)
			if f, want := got.fault, test.want.fault; (f == nil) != (want == nil) || f != nil && *f != *want {
				t.Fatalf("fault %+v, want %+v", f, want)
			}
			if got.text != test.want.text {
				t.Errorf("text %q, want %q", got.text, test.want.text)
			}
		})
	}
}

// FuzzReply: only a methodResponse with params and without fault that the standard
// library accepts as well-formed is a success.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		successBody("<string>ok</string>"), faultBody("<int>48</int>", "<string>x</string>"),
		"<methodResponse><params><param><value><![CDATA[<fault>]]></value></param></params></methodResponse>",
		"junk & <b>" + successBody("<boolean>1</boolean>") + "<!-- x -->",
		"\xFF\xFE" + wide(successBody("ok")),
	} {
		f.Add([]byte(seed), "text/xml")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		r, err := decodeReply(body, contentType)
		if err != nil || r.fault != nil {
			return
		}
		d := xml.NewDecoder(strings.NewReader(data.MessageText(body, contentType, document(), "")))
		depth, path, params := 0, []string{}, false
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("success though %v: %q", err, body)
			}
			switch e := token.(type) {
			case xml.StartElement:
				path = append(path[:depth], e.Name.Local)
				depth++
				switch strings.Join(path, "/") {
				case "methodResponse/fault":
					t.Fatalf("success with a fault: %q", body)
				case "methodResponse/params":
					params = true
				}
				if path[0] != "methodResponse" {
					t.Fatalf("success of <%s>: %q", path[0], body)
				}
			case xml.EndElement:
				depth--
			}
		}
		if !params {
			t.Fatalf("success without params: %q", body)
		}
	})
}
