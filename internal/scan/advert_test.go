package scan

import (
	"slices"
	"strings"
	"testing"
)

func TestAdverts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []AdvertRel
	}{
		{"both", `<link rel="pingback" href=x><link rel=webmention href=y>`, []AdvertRel{AdvertPingback, AdvertWebmention}},
		{"one_element", `<link href=x REL="x PingBack  WEBMENTION">`, []AdvertRel{AdvertPingback | AdvertWebmention}},
		{"no_href", `<link rel=webmention>`, []AdvertRel{AdvertWebmention}},
		{"other_words", `<link rel=pingbacks><link rel="xwebmention"><a rel=webmention href=x>`, nil},
		{"not_an_element", `<!--<link rel=pingback>--><script>"<link rel=pingback>"</script><title><link rel=pingback></title>`, nil},
		{"template", `<template><link rel=pingback></template>`, nil},
		{"irregular", `<table><link rel=pingback><td><svg><link rel=pingback></svg></table><form><form>`,
			[]AdvertRel{AdvertPingback}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Scanner
			var got []AdvertRel
			p := s.HTML([]byte(c.text), Options{Tags: Linklint})
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
		if got := s.HTML([]byte(text), Options{}).SecondHead; int(got) != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
