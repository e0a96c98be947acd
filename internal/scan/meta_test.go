package scan

import (
	"fmt"
	"testing"
)

// TestRelations: what link elements are for, as far as it is told apart.
func TestRelations(t *testing.T) {
	var s Scanner
	for rel, want := range map[string]Kind{
		"preconnect": KindHint, "dns-prefetch PRECONNECT": KindHint, "preconnect stylesheet": KindLink, "": KindLink, "stylesheet": KindLink,
		"canonical": KindCanonical, " Canonical\n": KindCanonical, "manifest": KindManifest, "canonicals": KindLink,
	} {
		p := s.HTML(fmt.Appendf(nil, "<!doctype html><link rel=\"%s\" href=x>", rel), Options{})
		if len(p.Links) != 1 || p.Links[0].Kind != want {
			t.Errorf("rel=%q: %q, want kind %d", rel, rows(p), want)
		}
	}
}

// TestNoIndex: what a robots meta element says.
func TestNoIndex(t *testing.T) {
	var s Scanner
	for in, want := range map[string]bool{
		`<meta name=robots content="NOINDEX, nofollow">`: true, `<meta content=noindex name=Robots>`: true, `<meta name=robots content=index>`: false,
		`<meta name=description content=noindex>`: false, `<template><meta name=robots content=noindex></template>`: false, "": false,
	} {
		if got := s.HTML([]byte("<!doctype html>"+in), Options{}).NoIndex; got != want {
			t.Errorf("%s: %t, want %t", in, got, want)
		}
	}
}
