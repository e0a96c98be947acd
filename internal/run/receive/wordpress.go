package receive

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/verify"
)

// wxrItem is a post or page of WordPress' export. Elements are found by their local names,
// because the name space has the version of the format.
type wxrItem struct {
	Link     string       `xml:"link"`
	Title    string       `xml:"title"`
	Comments []wxrComment `xml:"comment"`
}

type wxrComment struct {
	ID       string    `xml:"comment_id"`
	Author   string    `xml:"comment_author"`
	URL      string    `xml:"comment_author_url"`
	Date     string    `xml:"comment_date_gmt"`
	Content  string    `xml:"comment_content"`
	Approved string    `xml:"comment_approved"`
	Type     string    `xml:"comment_type"`
	Meta     []wxrMeta `xml:"commentmeta"`
}

type wxrMeta struct {
	Key   string `xml:"meta_key"`
	Value string `xml:"meta_value"`
}

func (c *wxrComment) meta(keys ...string) string {
	for _, key := range keys {
		for _, m := range c.Meta {
			if m.Key == key && m.Value != "" {
				return m.Value
			}
		}
	}
	return ""
}

// WordPress reads the pingbacks and webmentions of an export file of WordPress (Tools,
// Export, All content). Comments that readers typed and trackbacks, which prove no link,
// are left out. Approved comments are approved and pending ones are held. WordPress leaves
// out spam; where another program exports it, it is denied. The list ends with an error if
// the text is not such a file.
func WordPress(r io.Reader) iter.Seq2[ImportItem, error] {
	return func(yield func(ImportItem, error) bool) {
		d := xml.NewDecoder(r)
		d.Strict = false
		d.CharsetReader = charset.NewReaderLabel
		isExport := false
		for {
			token, err := d.Token()
			switch {
			case errors.Is(err, io.EOF) && isExport:
				return
			case errors.Is(err, io.EOF):
				err = errors.New("it has no element rss: in WordPress, choose Tools, Export, All content")
			}
			if err != nil {
				yield(ImportItem{}, fmt.Errorf("read the export of WordPress: %w", err))
				return
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			isExport = isExport || start.Name.Local == "rss"
			if start.Name.Local != "item" {
				continue
			}
			var post wxrItem
			if err := d.DecodeElement(&post, &start); err != nil {
				yield(ImportItem{}, fmt.Errorf("read the export of WordPress: %w", err))
				return
			}
			for i := range post.Comments {
				if !yield(wordpressItem(&post, &post.Comments[i]), nil) {
					return
				}
			}
		}
	}
}

func wordpressItem(post *wxrItem, c *wxrComment) ImportItem {
	item := ImportItem{Where: "comment " + strings.TrimSpace(c.ID)}
	m := &item.Mention
	*m = incoming.Mention{Source: strings.TrimSpace(c.URL), Target: strings.TrimSpace(post.Link), Excerpt: textOf(c.Content),
		Received: timeIn(c.Date, time.DateTime, time.RFC3339)}
	source := c.meta("webmention_source_url", "semantic_linkbacks_source")
	switch {
	case c.Type == "pingback":
		m.Protocol, m.Title = incoming.Pingback, textOf(c.Author) // WordPress keeps the title there
	case c.Type == "webmention" || source != "" || c.meta("protocol") == "webmention":
		m.Protocol, m.Author = incoming.Webmention, incoming.Author{Name: textOf(c.Author), URL: strings.TrimSpace(c.URL)}
		if source != "" {
			m.Source = source
		}
		if target := c.meta("webmention_target_url"); target != "" {
			m.Target = target
		}
	case c.Type == "trackback":
		item.Skip = "a trackback proves no link"
		return item
	default:
		item.Skip = "it is a comment that a reader typed"
		return item
	}
	switch c.Approved {
	case "1", "approve", "approved":
		m.State = incoming.Approved
	case "0", "hold":
		m.State = incoming.Held
	case "spam":
		m.State = incoming.Refused
	case "trash", "post-trashed":
		item.Skip = "it is in the trash"
	default:
		item.Skip = fmt.Sprintf("its state %q is not known", verify.Clean(c.Approved, 40))
	}
	return item
}
