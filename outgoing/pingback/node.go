package pingback

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// deepest bounds the nesting of an answer: a fault needs seven levels.
const deepest = 32

var (
	errTrailing = errors.New("something follows the answer")
	errDeep     = errors.New("the elements are nested too deeply")
	errNoXML    = errors.New("the answer is not XML-RPC")
)

// node is one element of an answer.
type node struct {
	name     string // without its prefix
	prefix   string
	text     string // character data of the element itself
	children []*node
}

func (n *node) is(name xml.Name) bool { return n.name == name.Local && n.prefix == name.Space }

// child returns the first child of that name, nil if there is none.
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

// find returns the elements of that name below n, in document order.
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

// all returns the character data of n and of everything below it.
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

// parse reads the elements of an answer. Strictly, it must be well-formed, with
// nothing but white space, comments and instructions behind it. Otherwise bare
// ampersands, the entities of HTML, and end tags that are missing or superfluous
// do not matter, and a fault in the XML ends the reading; the node is what was
// read until then, nil if there was no element.
func parse(text string, strict bool) (*node, error) {
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
				err = errNoXML
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
			if len(open) == deepest {
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
				return root, errors.New("end tag </" + t.Name.Local + "> ends nothing")
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
