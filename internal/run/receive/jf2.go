package receive

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/sitelink/sitelink/incoming"
)

// jf2Entry is an entry of JF2 with the fields of webmention.io. Fields that may be of
// several types are read later.
type jf2Entry struct {
	Type      string          `json:"type"`
	URL       json.RawMessage `json:"url"`
	Source    string          `json:"wm-source"`
	Target    string          `json:"wm-target"`
	Protocol  string          `json:"wm-protocol"`
	Private   json.RawMessage `json:"wm-private"`
	Received  json.RawMessage `json:"wm-received"`
	Verified  json.RawMessage `json:"wm-verified"`
	Published json.RawMessage `json:"published"`
	Name      json.RawMessage `json:"name"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	Lang      json.RawMessage `json:"lang"`
	Author    json.RawMessage `json:"author"`
}

// JF2 reads the mentions of a JF2 feed with the fields of webmention.io, as
// https://webmention.io/api/mentions.jf2 returns it. A reader may have several feeds,
// one after the other: the pages of a long list. All mentions are approved, because
// webmention.io shows them; private ones are left out. The list ends with an error if the
// itemText is not such a feed.
func JF2(r io.Reader) iter.Seq2[ImportItem, error] {
	return func(yield func(ImportItem, error) bool) {
		d := json.NewDecoder(r)
		for n := 0; ; {
			err := eachChild(d, func(raw json.RawMessage) bool {
				n++
				return yield(jf2Item(fmt.Sprintf("entry %d", n), raw), nil)
			})
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, errStopped):
				return
			case err != nil:
				yield(ImportItem{}, fmt.Errorf("read JF2 after entry %d: %w", n, err))
				return
			}
		}
	}
}

var errStopped = errors.New("stopped")

// eachChild calls f with each entry of the next feed, which is an object with the list
// children, or such a list. It holds one entry at a time. The error is io.EOF if there is
// no further feed.
func eachChild(d *json.Decoder, f func(json.RawMessage) bool) error {
	start, err := d.Token()
	if err != nil {
		return err
	}
	if start == json.Delim('[') {
		return eachElement(d, f)
	}
	if start != json.Delim('{') {
		return errors.New("want an object or a list")
	}
	found := false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return unexpected(err)
		}
		if key != "children" {
			if err := d.Decode(new(json.RawMessage)); err != nil {
				return unexpected(err)
			}
			continue
		}
		found = true
		if list, err := d.Token(); err != nil || list != json.Delim('[') {
			return cmp.Or(unexpected(err), errors.New("the field children is not a list"))
		}
		if err := eachElement(d, f); err != nil {
			return err
		}
	}
	if _, err = d.Token(); err == nil && !found {
		err = errors.New("it has no list children: get the feed from api/mentions.jf2, not from api/mentions")
	}
	return unexpected(err)
}

func eachElement(d *json.Decoder, f func(json.RawMessage) bool) error {
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return unexpected(err)
		}
		if !f(raw) {
			return errStopped
		}
	}
	_, err := d.Token()
	return unexpected(err)
}

// unexpected is for an end within a feed.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func jf2Item(where string, raw json.RawMessage) ImportItem {
	item := ImportItem{Where: where}
	var e jf2Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		item.Skip = "it is not an entry of a feed"
		return item
	}
	m := &item.Mention
	*m = incoming.Mention{
		Protocol: incoming.Webmention, State: incoming.Approved, Source: cmp.Or(e.Source, itemText(e.URL)), Target: e.Target,
		Title: itemText(e.Name), Excerpt: cmp.Or(itemText(e.Content), itemText(e.Summary)), Lang: itemText(e.Lang),
		Received: timeIn(cmp.Or(itemText(e.Received), itemText(e.Published)), time.RFC3339), Verified: timeIn(itemText(e.Verified), time.RFC3339),
	}
	if e.Protocol == string(incoming.Pingback) || e.Protocol == string(incoming.LinkMethod) {
		m.Protocol = incoming.Protocol(e.Protocol)
	}
	var author struct{ Name, URL json.RawMessage }
	if json.Unmarshal(first(e.Author), &author) == nil {
		m.Author = incoming.Author{Name: itemText(author.Name), URL: itemText(author.URL)}
	} else {
		m.Author.Name = itemText(e.Author)
	}
	switch {
	case string(e.Private) == "true":
		item.Skip = "it is private"
	case e.Protocol == "internal":
		item.Skip = "it is a link within the site"
	case m.Source == "" || m.Target == "":
		item.Skip = "it has no wm-source or no wm-target"
	}
	return item
}

// first returns the first element of a list, and anything else unchanged.
func first(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return raw
}

// itemText returns a field as plain text: a string, the first string of a list, or an object
// with text, HTML, or a value of a type, as webmention.io writes summaries.
func itemText(raw json.RawMessage) string {
	raw = first(raw)
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var content struct {
		Text, HTML, Value string
		Type              string `json:"content-type"`
	}
	if json.Unmarshal(raw, &content) == nil {
		if content.Type == "text/html" {
			content.HTML, content.Value = cmp.Or(content.HTML, content.Value), ""
		}
		return cmp.Or(content.Text, textOf(content.HTML), content.Value)
	}
	return ""
}
