package outgoing

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/sitelink/sitelink/internal/scan/outline"
)

// hashed are the attributes that belong to what a reader sees.
var hashed = [...]outline.Attr{outline.Alt, outline.Cite, outline.Data, outline.Datetime,
	outline.Href, outline.Poster, outline.Src, outline.Title}

var hashedSet = func() (set uint32) {
	for _, a := range hashed {
		set |= 1 << a
	}
	return set
}()

// hashChunk is how much is handed to the hash at once. SHA-256, with the
// processor's instructions for it, takes 7 % of the reading of python3.11-doc's
// entries, the folding of their text 10 %: a faster hash would change little.
const hashChunk = 8 << 10

// hash is that of what a reader sees of the entry: its text with white space
// folded, the names of its elements, and where its links and pictures lead.
// Classes, styles and scripts are the theme's: a new theme tells nobody. The
// order of attributes is none of it.
func (c *content) hash() string {
	h := sha256.New()
	buf := make([]byte, 0, hashChunk+hashChunk/4)
	see := func(i int) {
		if c.page.IsText(i) {
			from := len(buf)
			buf = append(buf, '#', 0)
			if buf = c.page.AppendText(buf, i); len(buf) == from+2 {
				buf = buf[:from]
				return
			}
			buf = append(buf, 0)
		} else {
			buf = append(c.page.AppendName(buf, i), 0)
			if set := c.page.Attrs(i); set&hashedSet != 0 {
				for _, name := range hashed {
					if set&(1<<name) != 0 {
						value, _ := c.page.Attr(i, name)
						buf = append(append(buf, name.String()...), 0)
						buf = append(append(buf, value...), 0)
					}
				}
			}
		}
		if len(buf) >= hashChunk {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	if c.heading >= 0 {
		for i := c.heading; i < c.page.End(c.heading); i++ {
			see(i)
		}
	}
	for _, i := range c.marked {
		see(i)
	}
	c.walk(see)
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
