package main

import (
	"encoding/xml"
	"strings"
)

type feed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string   `xml:"title"`
	ID      string   `xml:"id"`
	Links   []link   `xml:"link"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Entries []entry  `xml:"entry"`
}

type entry struct {
	Title   string  `xml:"title"`
	ID      string  `xml:"id"`
	Link    link    `xml:"link"`
	Updated string  `xml:"updated"`
	Content content `xml:"content"`
}

type link struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type content struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// atom returns the Atom feed of pages (RFC 4287), newest first. A page has a date
// but no time of day.
func atom(pages []*page) ([]byte, error) {
	site := strings.TrimSuffix(baseURL, "/")
	f := feed{Title: "Hedge and Stile", ID: baseURL, Author: "The walkers",
		Links: []link{{Href: baseURL}, {Rel: "self", Href: site + "/feed.xml"}}}
	for _, p := range pages {
		updated := p.Date + "T00:00:00Z"
		if f.Updated == "" {
			f.Updated = updated
		}
		address := site + p.Address
		f.Entries = append(f.Entries, entry{p.Title, address, link{Href: address}, updated, content{"html", string(p.Body)}})
	}
	out, err := xml.MarshalIndent(f, "", "  ")
	return append([]byte(xml.Header), append(out, '\n')...), err
}
