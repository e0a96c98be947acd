package server

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/kolo/xmlrpc"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/text"
)

// The fault codes that are sent: those of the specification (PB-42 to PB-49), and
// those of the fault-code note (PB-50). 16, 17 and 50 are never sent, because
// they are the result of a request to the source, which is made later.
const (
	faultTarget      = 0x20
	faultNotTarget   = 0x21
	faultRegistered  = 0x30
	faultDenied      = 0x31
	faultMalformed   = -32700
	faultInvalid     = -32600
	faultMethod      = -32601
	faultParameters  = -32602
	faultApplication = -32500
)

// fault is an XML-RPC fault.
type fault struct {
	code int
	text string
}

func (f *fault) Error() string { return f.text }

// servePingback is the XML-RPC server, with pingback.ping as its only method. The
// answer to a POST is always a methodResponse with the status 200 (PB-63).
func (s *Server) servePingback(w http.ResponseWriter, r *http.Request) {
	const allow = "POST, OPTIONS"
	switch r.Method {
	case http.MethodOptions:
		s.options(w, allow, "text/xml", "application/xml")
		return
	case http.MethodPost:
	default:
		w.Header().Set("Allow", allow)
		s.plain(w, "pingback", http.StatusMethodNotAllowed, "This is a pingback server. Programs send XML-RPC calls of pingback.ping with POST.")
		return
	}
	text, err := s.ping(r)
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	s.metrics.request("pingback", http.StatusOK)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(methodResponse(text, err))
}

// ping reads and answers a call. The error is a *fault.
func (s *Server) ping(r *http.Request) (string, error) {
	body, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return "", &fault{faultInvalid, "The call is too large."}
	} else if err != nil {
		return "", &fault{faultMalformed, "The call could not be read."}
	}
	c, err := decodeCall(body, r.Header.Get("Content-Type"))
	if err != nil {
		return "", err
	}
	if c.method != "pingback.ping" {
		return "", &fault{faultMethod, "The only method is pingback.ping."}
	}
	if len(c.params) != 2 {
		return "", &fault{faultParameters, "pingback.ping has two parameters: the source and the target."}
	}
	n := incoming.Notice{Protocol: incoming.Pingback, Action: incoming.Link, Peer: s.peer(r)}
	for i, url := range []*string{&n.Source, &n.Target} {
		if err := xmlrpc.Response(c.params[i]).Unmarshal(url); err != nil {
			return "", &fault{faultParameters, "The source and the target must be strings."}
		}
		*url = strings.TrimSpace(*url)
	}
	answers, err := s.receive(r.Context(), []incoming.Notice{n})
	if err != nil {
		return "", &fault{faultApplication, "The pingback could not be stored. Please try again later."}
	}
	a := answers[0]
	switch a.Outcome {
	case incoming.Accepted:
		return "Thank you. The pingback is queued: the link will be verified.", nil
	case incoming.Known:
		return "", &fault{faultRegistered, reason(a, "The pingback is already registered.")}
	case incoming.Missing:
		return "", &fault{faultTarget, reason(a, "The target does not exist.")}
	case incoming.Elsewhere:
		return "", &fault{faultNotTarget, reason(a, "The target is not a page of this site.")}
	case incoming.Closed:
		return "", &fault{faultNotTarget, reason(a, "The target does not accept pingbacks.")}
	case incoming.Denied:
		return "", &fault{faultDenied, reason(a, "Access denied.")}
	case incoming.Limited:
		return "", &fault{faultDenied, reason(a, "Too many requests. Please try again later.")}
	case incoming.Invalid:
		return "", &fault{faultParameters, reason(a, "The source and the target must be http or https URLs of different pages.")}
	}
	return "", &fault{0, reason(a, "The pingback was refused.")}
}

// reason returns the reason of an answer, or a general one.
func reason(a incoming.Answer, general string) string {
	if a.Reason != "" {
		return a.Reason
	}
	return general
}

// methodResponse writes a success or, if err is not nil, a fault (PB-37, PB-39).
func methodResponse(text string, err error) []byte {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<methodResponse>")
	if f := (*fault)(nil); errors.As(err, &f) {
		b.WriteString("<fault><value><struct><member><name>faultCode</name><value><int>")
		b.WriteString(strconv.Itoa(f.code))
		b.WriteString("</int></value></member><member><name>faultString</name><value><string>")
		_ = xml.EscapeText(&b, []byte(f.text))
		b.WriteString("</string></value></member></struct></value></fault>")
	} else {
		b.WriteString("<params><param><value><string>")
		_ = xml.EscapeText(&b, []byte(text))
		b.WriteString("</string></value></param></params>")
	}
	b.WriteString("</methodResponse>\n")
	return []byte(b.String())
}

// rpcCall is an XML-RPC call. Each parameter is its value element, written again
// without comments, CDATA sections and attributes, for the library: that reads
// values, but not calls.
type rpcCall struct {
	method string
	params []string
}

// callBegin matches where the XML of a call may begin.
var callBegin = text.Regexp(`<\?xml[ \t\r\n]|<!DOCTYPE|<methodCall[ \t\r\n/>]|<[A-Za-z]`)

var errMalformed = &fault{faultMalformed, "The call is not well-formed XML."}

// decodeCall reads a call as the wild sends it: of any content type and encoding,
// with & written as such. The error is a *fault.
func decodeCall(body []byte, contentType string) (rpcCall, error) {
	text := data.MessageText(body, contentType, callBegin(), "windows-1252")
	if text == "" {
		return rpcCall{}, errMalformed
	}
	c, err := parseRPC(text)
	if err == errMalformed {
		// Serendipity and others do not escape URLs.
		c, err = parseRPC(escapeAmpersands(text))
	}
	return c, err
}

// Limits of a call. It has eight levels and a dozen elements.
const (
	maxDepth    = 16
	maxElements = 100
)

// parseRPC reads the elements of a call. Declarations of a document type are
// refused: entities could make a small call huge (PB-60).
func parseRPC(text string) (rpcCall, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	var c rpcCall
	var path []string
	var value strings.Builder
	elements := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			return c, errMalformed
		}
		inValue := len(path) >= 4 && path[3] == "value" && path[2] == "param" && path[1] == "params"
		switch t := token.(type) {
		case xml.Directive:
			return c, &fault{faultInvalid, "The call must not have a document type."}
		case xml.StartElement:
			path = append(path, t.Name.Local)
			if elements++; elements > maxElements || len(path) > maxDepth {
				return c, &fault{faultInvalid, "The call has too many elements."}
			}
			if len(path) == 1 && (elements > 1 || path[0] != "methodCall") {
				return c, &fault{faultInvalid, "The document is not a methodCall."}
			}
			if len(path) == 4 {
				value.Reset()
			}
			if inValue {
				value.WriteString("<" + t.Name.Local + ">")
			}
		case xml.EndElement:
			path = path[:len(path)-1]
			switch {
			case inValue && len(path) == 3:
				c.params = append(c.params, "<value>"+value.String()+"</value>")
			case inValue:
				value.WriteString("</" + t.Name.Local + ">")
			}
		case xml.CharData:
			switch {
			case inValue:
				_ = xml.EscapeText(&value, t)
			case len(path) == 2 && path[1] == "methodName":
				c.method += string(t)
			}
		}
	}
	if c.method = strings.TrimSpace(c.method); c.method == "" {
		return c, &fault{faultInvalid, "The call names no method."}
	}
	return c, nil
}

// reference matches the references that XML has without a document type.
var reference = text.Regexp(`^&(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);`)

// escapeAmpersands escapes ampersands that begin no reference.
func escapeAmpersands(text string) string {
	var b strings.Builder
	for {
		before, _, found := strings.Cut(text, "&")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text = text[len(before):]
		if reference().MatchString(text) {
			b.WriteString("&")
		} else {
			b.WriteString("&amp;")
		}
		text = text[1:]
	}
}
