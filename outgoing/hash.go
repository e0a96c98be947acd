package outgoing

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// hash is that of what a reader sees of the entry: its text with white space
// folded, the names of its elements, and where its links and pictures lead.
// Classes, styles and scripts are the theme's: a new theme tells nobody.
func (c *content) hash() string {
	h := sha256.New()
	write := func(parts ...string) {
		for _, p := range parts {
			io.WriteString(h, p)
			h.Write([]byte{0})
		}
	}
	see := func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			if text := strings.Join(strings.Fields(n.Data), " "); text != "" {
				write("#", text)
			}
		case html.ElementNode:
			write(n.Data)
			for _, a := range n.Attr {
				switch a.Key {
				case "href", "src", "alt", "title", "cite", "datetime", "poster", "data":
					write(a.Key, a.Val)
				}
			}
		}
	}
	if c.heading != nil {
		walk(c.heading, func(n *html.Node) bool { see(n); return true })
	}
	for _, n := range c.marked {
		see(n)
	}
	c.walk(see)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
