package html

import (
	"fmt"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/scantest"
)

// TestRelations: what link elements are for, as far as it is told apart.
func TestRelations(t *testing.T) {
	var s Scanner
	for rel, want := range map[string]scan.Kind{
		"preconnect": scan.KindHint, "dns-prefetch PRECONNECT": scan.KindHint, "preconnect stylesheet": scan.KindLink, "": scan.KindLink, "stylesheet": scan.KindLink,
		"canonical": scan.KindCanonical, " Canonical\n": scan.KindCanonical, "manifest": scan.KindManifest, "canonicals": scan.KindLink,
	} {
		p := s.Scan(fmt.Appendf(nil, "<!doctype html><link rel=\"%s\" href=x>", rel), scan.Options{})
		if len(p.Links) != 1 || p.Links[0].Kind != want {
			t.Errorf("rel=%q: %q, want kind %d", rel, scantest.Rows(p), want)
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
		if got := s.Scan([]byte("<!doctype html>"+in), scan.Options{}).NoIndex; got != want {
			t.Errorf("%s: %t, want %t", in, got, want)
		}
	}
}
