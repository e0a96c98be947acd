package pingback

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kolo/xmlrpc"
)

// reply is what a server answered to a call: a success with its text, or a
// fault.
type reply struct {
	text  string
	fault *fault
}

// fault is the failure that a server answered.
type fault struct {
	code int
	// known: the code could be read.
	known bool
	text  string
}

// decode reads the body of an answer. A success is a methodResponse that is
// well-formed, holds params and no fault, whatever type its value has: servers
// answer true, a number or nothing. A fault may be anything that can be
// recognised as one. An error is errNoXML for what is no answer of XML-RPC at
// all, any other if it is damaged: nobody can tell then what the server did.
//
// The library reads faults first. What it rejects, or drops without a word, is
// read by the structure of the answer.
func decode(body []byte, contentType string) (reply, error) {
	text := xmlText(body, contentType)
	if text == "" {
		return reply{}, errNoXML
	}
	root, err := parse(text, true)
	if err != nil {
		damage := err
		// Second chance, for faults alone: what is not well-formed is no
		// success.
		if root, _ = parse(text, false); faultNode(root) == nil {
			if root == nil || root.name != "methodResponse" {
				return reply{}, errNoXML
			}
			return reply{}, fmt.Errorf("the answer is damaged: %w", damage)
		}
	}
	if f := faultNode(root); f != nil {
		return reply{fault: readFault(f, text)}, nil
	}
	if root.name != "methodResponse" {
		return reply{}, errNoXML
	}
	params := root.child("params")
	if params == nil {
		return reply{}, errors.New("the answer is neither success nor fault")
	}
	return reply{text: params.all()}, nil
}

// faultNode returns the fault of an answer, nil if it is none.
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

// readFault reads the code and text of a fault.
func readFault(n *node, text string) *fault {
	read := structure(n)
	var lib xmlrpc.FaultError
	// The library takes code 0 from structs of which it dropped members.
	if errors.As(xmlrpc.Response(text).Err(), &lib) && lib.Code != 0 {
		read.code, read.known = lib.Code, true
	}
	return read
}

// structure reads a fault by its elements: names and numbers may stand between
// white space, numbers may be strings, and a fault may be a bare value
// (Serendipity) or a struct without a value around it (old rTorrent).
func structure(n *node) *fault {
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
