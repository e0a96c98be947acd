//go:build integration

package data

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// readTextSitemaps reads the texts of a JSON array with ultimate-sitemap-parser
// (https://pypi.org/project/ultimate-sitemap-parser/), and writes the URLs of each.
const readTextSitemaps = `
import json, logging, sys
from usp.tree import sitemap_from_str
logging.disable(logging.CRITICAL)
json.dump([[p.url for p in sitemap_from_str(text).all_pages()] for text in json.load(sys.stdin)], sys.stdout)
`

// sitemapLines are what the lines of random text sitemaps are made of.
var sitemapLines = []string{
	"https://a.example/", "http://a.example/b.html", "HTTPS://A.example/x", "  https://a.example/spaces  ", "\thttps://a.example/tab\t", "https://a.example/é/漢",
	"https://a.example/#f", "https://a.example/?q=1&amp;r=2", "https://a.example:8080/", "https://a.example", "https://localhost/x", "http://192.0.2.1/",
	"", "   ", "# a comment", "# https://a.example/comment", "/relative", "relative.html", "../up", "//a.example/schemeless", "ftp://a.example/", "mailto:a@b.example",
	"https://a.example/c d", "https://a.example/1 https://a.example/2", "https:a.example", "a.example", "https://", "<loc>https://a.example/</loc>",
}

// TestTextSitemapReader: a sitemap that is a list gives the URLs that a crawler
// reads in it, with any lines and line ends. The crawler lists a URL once.
func TestTextSitemapReader(t *testing.T) {
	python := os.Getenv("SITELINK_SITEMAPS")
	if python == "" {
		t.Skip("SITELINK_SITEMAPS names no Python with ultimate-sitemap-parser; .ci/run has one")
	}
	texts := []string{strings.Join(sitemapLines, "\n")}
	random := rand.New(rand.NewPCG(13, 9))
	for range 300 {
		text := []string{"", "\uFEFF"}[random.IntN(2)] + "https://first.example/"
		for range random.IntN(12) {
			text += []string{"\n", "\r\n", "\r", "\n\n"}[random.IntN(4)] + sitemapLines[random.IntN(len(sitemapLines))]
		}
		texts = append(texts, text+[]string{"", "\n", "\r\n"}[random.IntN(3)])
	}
	in := testkit.Must(json.Marshal(texts))(t)
	cmd := exec.CommandContext(t.Context(), python, "-c", readTextSitemaps)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out := testkit.Must(cmd.Output())(t)
	var want [][]string
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(texts) {
		t.Fatalf("%d answers, %v", len(want), err)
	}
	var s Scanner
	total := 0
	for i, text := range texts {
		if !IsTextSitemap([]byte(text)) {
			t.Errorf("%q is not a text sitemap", text)
		}
		got := []string{}
		p := s.TextSitemap([]byte(text), scan.Options{})
		for j := range p.Links {
			if v := string(p.Links[j].Value); !slices.Contains(got, v) {
				got = append(got, v)
			}
		}
		if !slices.Equal(got, want[i]) {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want[i])
		}
		total += len(got)
	}
	t.Logf("%d files, %d URLs", len(texts), total)
}
