package websub

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Hubs returns the hubs that a feed names, absolute http and https addresses in
// the feed's order, each once: the links of the relation hub that belong to the
// feed itself in Atom and RSS, and the hubs of the type WebSub in a JSON Feed.
// A feed that is damaged somewhere names what it names until there.
//
// https://www.w3.org/TR/websub/#discovery, https://www.jsonfeed.org/version/1.1/#top-level
func Hubs(feed []byte) []string {
	text := bytes.TrimLeft(bytes.TrimPrefix(feed, []byte("\xEF\xBB\xBF")), " \t\r\n")
	var named []string
	if bytes.HasPrefix(text, []byte("{")) {
		named = jsonHubs(text)
	} else {
		named = xmlHubs(feed)
	}
	var hubs []string
	for _, hub := range named {
		u, err := weburl.Parse(hub)
		if err == nil && (u.Scheme() == "http" || u.Scheme() == "https") && !u.HasCredentials() && !slices.Contains(hubs, u.WithoutFragment()) {
			hubs = append(hubs, u.WithoutFragment())
		}
	}
	return hubs
}

func jsonHubs(feed []byte) (named []string) {
	var f struct {
		Hubs []struct {
			Type string `json:"type"`
			URL  string `json:"url"`
		} `json:"hubs"`
	}
	if json.Unmarshal(feed, &f) != nil {
		return nil
	}
	for _, hub := range f.Hubs {
		if strings.EqualFold(hub.Type, "WebSub") {
			named = append(named, hub.URL)
		}
	}
	return named
}

// xmlHubs reads the children of <feed>, and of <channel>. Entries are passed
// over: their links are about themselves.
func xmlHubs(feed []byte) (named []string) {
	d := xml.NewDecoder(bytes.NewReader(feed))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = charset.NewReaderLabel
	var parents []string
	for {
		token, err := d.Token()
		if err != nil {
			return named
		}
		switch t := token.(type) {
		case xml.StartElement:
			parent := ""
			if len(parents) > 0 {
				parent = parents[len(parents)-1]
			}
			switch {
			case t.Name.Local == "entry", t.Name.Local == "item":
				if d.Skip() != nil {
					return named
				}
				continue
			case t.Name.Local == "link" && (parent == "feed" || parent == "channel") && hasToken(attribute(t, "rel"), "hub"):
				named = append(named, attribute(t, "href"))
			}
			parents = append(parents, t.Name.Local)
		case xml.EndElement:
			if len(parents) > 0 {
				parents = parents[:len(parents)-1]
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Space == "" && a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// hasToken tells whether a list of words holds one, in any letter case.
func hasToken(list, word string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(s string) bool { return strings.EqualFold(s, word) })
}
