package send

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/outgoing"
)

// stored is a Doer with a stored response.
type stored struct {
	page outgoing.Response
	err  error
}

func (s stored) Do(context.Context, outgoing.Request) (*outgoing.Response, error) {
	if s.err != nil {
		return nil, s.err
	}
	return &s.page, nil
}

func (s stored) target() *outgoing.Target { return outgoing.NewTarget(s, s.page.URL) }

// TestDiscover has cases that webmention.rocks does not cover.
func TestDiscover(t *testing.T) {
	const pageURL = "https://t.example/a/b?c=d#e"
	html := http.Header{"Content-Type": {"text/html"}}
	link := func(values ...string) http.Header { return http.Header{"Link": values} }
	for _, test := range []struct {
		name   string
		header http.Header
		body   string
		want   string
	}{
		{"relation in upper case", link("</x>; rel=WebMention"), "", "https://t.example/x"},
		{"parameter in upper case", link("</x>; REL=webmention"), "", "https://t.example/x"},
		{"first rel counts", link("</x>; rel=other; rel=webmention"), "", ""},
		{"token, not prefix", link("</x>; rel=webmention-foo"), "", ""},
		{"comma in the target", link("</x?a,b>; rel=webmention"), "", "https://t.example/x?a,b"},
		{"comma and quote in a parameter", link(`</y>; title="a, \"<z>; rel=webmention"; rel=next, </x>; rel=webmention`), "", "https://t.example/x"},
		{"parameters before rel", link(`</x>; type="text/html"; rel="webmention"`), "", "https://t.example/x"},
		{"anchor elsewhere", link(`</y>; rel=webmention; anchor="/other"`, `</x>; rel=webmention`), "", "https://t.example/x"},
		{"anchor is the page", link(`</x>; rel=webmention; anchor="/a/b?c=d"`), "", "https://t.example/x"},
		{"empty target", link("<>; rel=webmention"), "", "https://t.example/a/b?c=d"},
		{"not closed", link("</x; rel=webmention"), "", ""},
		{"garbage before a good field", link("webmention", "</x>; rel=webmention"), "", "https://t.example/x"},
		{"header on an image", http.Header{"Link": {"</x>; rel=webmention"}, "Content-Type": {"image/png"}}, "\x89PNG", "https://t.example/x"},
		{"element in an image", http.Header{"Content-Type": {"image/svg+xml"}}, `<a rel="webmention" href="/x">`, ""},
		{"no media type", nil, `<a rel="webmention" href="/x">`, "https://t.example/x"},
		{"XHTML", http.Header{"Content-Type": {"application/xhtml+xml"}}, `<link rel="webmention" href="/x"/>`, "https://t.example/x"},
		{"unquoted by a minifier", html, `<link rel=webmention href=/x>`, "https://t.example/x"},
		{"upper case and newlines", html, "<LINK REL='Foo\nWebMention'\nHREF='/x'>", "https://t.example/x"},
		{"area is no a", html, `<area rel="webmention" href="/x">`, ""},
		{"in a script", html, `<script>'<a rel="webmention" href="/y">'</script><a rel="webmention" href="/x">`, "https://t.example/x"},
		{"in a textarea", html, `<textarea><a rel="webmention" href="/y"></textarea><a rel="webmention" href="/x">`, "https://t.example/x"},
		{"in a template", html, `<template><a rel="webmention" href="/y"></a></template><a rel="webmention" href="/x">`, "https://t.example/x"},
		{"in noscript", html, `<noscript><link rel="webmention" href="/x"></noscript>`, "https://t.example/x"},
		{"a of SVG", html, `<svg><a rel="webmention" href="/y"></a></svg><a rel="webmention" href="/x">`, "https://t.example/x"},
		{"entities", html, `<a rel="webmention" href="/x?a&amp;b">`, "https://t.example/x?a&b"},
		{"white space around", html, `<a rel="webmention" href=" /x ">`, "https://t.example/x"},
		{"base is not the target", html, `<base href="https://cdn.example/"><a rel="webmention" href="x">`, "https://t.example/a/x"},
		{"empty, with query", html, `<a rel="webmention" href="">`, "https://t.example/a/b?c=d"},
		{"fragment", html, `<a rel="webmention" href="/x#y">`, "https://t.example/x"},
		{"UTF-16", http.Header{"Content-Type": {"text/html; charset=utf-16le"}}, wide(`<a rel="webmention" href="/x">`), "https://t.example/x"},
		{"other scheme", html, `<a rel="webmention" href="mailto:x@y">`, ""},
		{"credentials", html, `<a rel="webmention" href="https://u:p@h/">`, ""},
		{"no address", html, `<a rel="webmention" href="https://[">`, ""},
		{"no body", html, "", ""},
		{"none", html, "<p>", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := NewWebmention(nil).Discover(t.Context(), stored{page: outgoing.Response{URL: pageURL, Status: 200, Header: test.header, Body: []byte(test.body)}}.target())
			if err != nil || e.URL != test.want {
				t.Errorf("%q, %v; want %q", e.URL, err, test.want)
			}
			if strings.Contains(e.Via, ":p@") {
				t.Errorf("password in %q", e.Via)
			}
		})
	}
}

func wide(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteByte(c)
		b.WriteByte(0)
	}
	return b.String()
}

// TestDiscoverStatus: a missing page has no endpoint; one that fails temporarily is
// tried again.
func TestDiscoverStatus(t *testing.T) {
	for _, s := range []outgoing.Sender{NewWebmention(nil), NewPingback(nil, PingbackOptions{})} {
		page := outgoing.Response{URL: "http://h/", Header: http.Header{"Link": {"<x>; rel=webmention"}, "X-Pingback": {"http://h/x"}, "Retry-After": {"7"}}}
		for status, want := range map[int]string{200: "http://h/x", 403: "http://h/x", 404: "", 410: ""} {
			page.Status = status
			e, err := s.Discover(t.Context(), stored{page: page}.target())
			if err != nil || e.URL != want {
				t.Errorf("%s, %d: %v, %v", s.Protocol(), status, e, err)
			}
		}
		page.Status = 503
		_, err := s.Discover(t.Context(), stored{page: page}.target())
		if later := (*outgoing.UnavailableError)(nil); !errors.As(err, &later) || later.Status != 503 || later.After.Seconds() != 7 {
			t.Errorf("%s, 503: %v", s.Protocol(), err)
		}
		failed := errors.New("no route")
		if _, err := s.Discover(t.Context(), stored{err: failed}.target()); err != failed {
			t.Errorf("%s, no answer: %v", s.Protocol(), err)
		}
	}
	if _, err := NewWebmention(nil).Discover(t.Context(), stored{page: outgoing.Response{URL: "x", Status: 200}}.target()); err == nil {
		t.Error("no error for an invalid URL")
	}
}
