package verify

import (
	"bytes"
	"encoding/xml"
	"io"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxDepth is the number of elements that may be open at once, as in package html.
const maxDepth = 512

// xhtml is the namespace of XHTML.
const xhtml = "http://www.w3.org/1999/xhtml"

// parseXML parses an XHTML page, where an element such as <script/> has no
// content, in contrast to HTML. The error means that it is not well-formed.
// Entities other than those of HTML do not exist, whatever the document declares.
func parseXML(text []byte) (*html.Node, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 already
	root := &html.Node{Type: html.DocumentNode}
	open, depth := root, 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return nil, errTooDeep
			}
			n := &html.Node{Type: html.ElementNode, Data: t.Name.Local}
			if t.Name.Space == xhtml || t.Name.Space == "" {
				n.DataAtom = atom.Lookup([]byte(t.Name.Local))
			} else {
				n.Namespace = "other"
			}
			for _, a := range t.Attr {
				switch a.Name.Space {
				case "":
					n.Attr = append(n.Attr, html.Attribute{Key: a.Name.Local, Val: a.Value})
				case "http://www.w3.org/XML/1998/namespace", "xml":
					n.Attr = append(n.Attr, html.Attribute{Namespace: "xml", Key: a.Name.Local, Val: a.Value})
				}
			}
			open.AppendChild(n)
			open = n
		case xml.EndElement:
			open, depth = open.Parent, depth-1
		case xml.CharData:
			open.AppendChild(&html.Node{Type: html.TextNode, Data: string(t)})
		}
	}
}
