package send

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kolo/xmlrpc"

	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/text"
)

// method is the method that a pingback client calls (section 3).
const method = "pingback.ping"

// encodeCall returns the body of the call: two strings, the source and the target
// as they are written (PB-36). It fails if one of them cannot be written as XML.
func encodeCall(source, target string) ([]byte, error) {
	for _, u := range []string{source, target} {
		if !utf8.ValidString(u) {
			return nil, fmt.Errorf("URL %.200q is not UTF-8", u)
		}
		if i := bytes.IndexFunc([]byte(u), isInvalid); i >= 0 {
			return nil, fmt.Errorf("URL %.200q contains a control character or a space", u)
		}
	}
	call, err := xmlrpc.EncodeMethodCall(method, source, target)
	if err != nil {
		return nil, fmt.Errorf("encode the call of %s: %w", method, err)
	}
	// Some servers compare the XML declaration byte by byte. The library's names
	// the encoding; the example in the specification does not.
	_, call, _ = bytes.Cut(call, []byte("?>"))
	return append(append([]byte("<?xml version=\"1.0\"?>\n"), call...), '\n'), nil
}

// isInvalid reports whether a character cannot be part of a URL. XML cannot even
// represent most of these.
func isInvalid(r rune) bool {
	return r <= ' ' || r == 0x7F || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF
}

// reply is the result of a call: a success with its text, or a fault.
type reply struct {
	text  string
	fault *fault
}

// fault is an XML-RPC fault.
type fault struct {
	code  int
	known bool // the code could be read
	text  string
}

// decodeReply reads the body of a response. A success is a well-formed
// methodResponse with params and without fault. Its value may have any type:
// servers send true, a number or nothing. Anything that can be recognised as a
// fault is one.
//
// The error is errNotXMLRPC for a body that is not an XML-RPC response, and
// another one for a damaged response, where it is unknown what the server did.
//
// The library reads faults first. Those that it rejects, or from which it drops
// parts, are read from the element tree.
func decodeReply(body []byte, contentType string) (reply, error) {
	text := data.MessageText(body, contentType, document(), "")
	if text == "" {
		return reply{}, errNotXMLRPC
	}
	root, err := parseResponse(text, true)
	if err != nil {
		damage := err
		// Try again leniently, but only for faults: a response that is not
		// well-formed is not a success.
		if root, _ = parseResponse(text, false); faultNode(root) == nil {
			if root == nil || root.name != "methodResponse" {
				return reply{}, errNotXMLRPC
			}
			return reply{}, fmt.Errorf("the response is damaged: %w", damage)
		}
	}
	if f := faultNode(root); f != nil {
		read := faultOf(f)
		var lib xmlrpc.FaultError
		// The library returns code 0 for structs from which it dropped members.
		if errors.As(xmlrpc.Response(text).Err(), &lib) && lib.Code != 0 {
			read.code, read.known = lib.Code, true
		}
		return reply{fault: read}, nil
	}
	if root.name != "methodResponse" {
		return reply{}, errNotXMLRPC
	}
	params := root.child("params")
	if params == nil {
		return reply{}, errors.New("the response is neither a success nor a fault")
	}
	return reply{text: params.all()}, nil
}

// faultNode returns the fault element of a response, or nil.
func faultNode(root *node) *node {
	if root == nil {
		return nil
	}
	if root.name == "fault" {
		return root
	}
	if root.name == "methodResponse" {
		return root.child("fault")
	}
	return nil
}

// faultOf reads a fault from its elements. It allows for white space around names
// and numbers, numbers that are strings, a fault that is a bare value
// (Serendipity), and a struct without a value around it (old rTorrent).
func faultOf(n *node) *fault {
	members := n.find("member")
	if len(members) == 0 {
		f := &fault{text: n.all()}
		if code, err := strconv.Atoi(f.text); err == nil {
			f.code, f.known, f.text = code, true, ""
		}
		return f
	}
	f := &fault{}
	for _, m := range members {
		var value strings.Builder
		for _, c := range m.children {
			if c.name != "name" {
				value.WriteString(c.all())
			}
		}
		switch m.child("name").all() {
		case "faultCode":
			if code, err := strconv.Atoi(strings.TrimSpace(value.String())); err == nil {
				f.code, f.known = code, true
			}
		case "faultString":
			f.text = value.String()
		}
	}
	return f
}

// maxDepth limits the nesting of a response. A fault needs seven levels.
const maxDepth = 32

var (
	errTrailing  = errors.New("there is text after the response")
	errDeep      = errors.New("the elements are nested too deeply")
	errNotXMLRPC = errors.New("the response is not XML-RPC")
)

// node is one element of a response.
type node struct {
	name     string // without prefix
	prefix   string
	text     string // character data of the element itself
	children []*node
}

func (n *node) is(name xml.Name) bool { return n.name == name.Local && n.prefix == name.Space }

// child returns the first child with that name, or nil.
func (n *node) child(name string) *node {
	if n != nil {
		for _, c := range n.children {
			if c.name == name {
				return c
			}
		}
	}
	return nil
}

// find returns the elements with that name below n, in document order.
func (n *node) find(name string) []*node {
	var found []*node
	for _, c := range n.children {
		if c.name == name {
			found = append(found, c)
		}
		found = append(found, c.find(name)...)
	}
	return found
}

// all returns the character data of n and of all elements below it.
func (n *node) all() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(n.text)
	for _, c := range n.children {
		b.WriteString(c.all())
	}
	return strings.TrimSpace(b.String())
}

// parseResponse reads the elements of a response. If strict, the response must be
// well-formed, with only white space, comments and instructions after it. If
// not, bare ampersands, HTML entities, and missing or superfluous end tags are
// accepted; at any other syntax error, parse returns what it has read so far, nil
// if there was no element.
func parseResponse(text string, strict bool) (*node, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = strict
	if !strict {
		d.Entity = xml.HTMLEntity
	}
	var root *node
	var open []*node
	for {
		token, err := d.RawToken()
		if err == io.EOF {
			if len(open) > 0 {
				err = io.ErrUnexpectedEOF
			} else if root != nil {
				err = nil
			} else {
				err = errNotXMLRPC
			}
			return root, err
		}
		if err != nil {
			return root, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if root != nil && len(open) == 0 {
				return root, errTrailing
			}
			if len(open) == maxDepth {
				return root, errDeep
			}
			n := &node{name: t.Name.Local, prefix: t.Name.Space}
			if root == nil {
				root = n
			} else {
				top := open[len(open)-1]
				top.children = append(top.children, n)
			}
			open = append(open, n)
		case xml.EndElement:
			at := len(open) - 1
			for !strict && at >= 0 && !open[at].is(t.Name) {
				at--
			}
			switch {
			case at >= 0 && open[at].is(t.Name):
				open = open[:at]
			case strict:
				return root, errors.New("end tag </" + t.Name.Local + "> has no start tag")
			}
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(t)
			} else if strings.TrimSpace(string(t)) != "" {
				return root, errTrailing
			}
		}
	}
}

// document matches where the XML of a response may begin. PHP may print warnings
// before it.
var document = text.Regexp(`<\?xml[ \t\r\n]|<methodResponse[ \t\r\n/>]|<fault[ \t\r\n/>]`)
