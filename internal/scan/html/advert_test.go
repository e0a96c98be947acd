package html

import (
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
)

func TestAdverts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []scan.AdvertRel
	}{
		{"both", `<link rel="pingback" href=x><link rel=webmention href=y>`, []scan.AdvertRel{scan.AdvertPingback, scan.AdvertWebmention}},
		{"one_element", `<link href=x REL="x PingBack  WEBMENTION">`, []scan.AdvertRel{scan.AdvertPingback | scan.AdvertWebmention}},
		{"no_href", `<link rel=webmention>`, []scan.AdvertRel{scan.AdvertWebmention}},
		{"other_words", `<link rel=pingbacks><link rel="xwebmention"><a rel=webmention href=x>`, nil},
		{"not_an_element", `<!--<link rel=pingback>--><script>"<link rel=pingback>"</script><title><link rel=pingback></title>`, nil},
		{"template", `<template><link rel=pingback></template>`, nil},
		{"irregular", `<table><link rel=pingback><td><svg><link rel=pingback></svg></table><form><form>`,
			[]scan.AdvertRel{scan.AdvertPingback}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Scanner
			var got []scan.AdvertRel
			p := s.Scan([]byte(c.text), scan.Options{Tags: scan.Linklint})
			for _, a := range p.Adverts {
				if got = append(got, a.Rel); !strings.HasPrefix(c.text[a.TagOff:], "<link ") {
					t.Errorf("no link element at %d", a.TagOff)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSecondHead(t *testing.T) {
	for text, want := range map[string]int{
		"<head></head><body>":                          0,
		"<head></head><head></head>":                   14,
		"<head></head><body><HEAD>x":                   20,
		"<head></head><template><head></template>":     0,
		"<head></head><!--<head>--><svg><head></head>": 0,
	} {
		var s Scanner
		if got := s.Scan([]byte(text), scan.Options{}).SecondHead; int(got) != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
