package main

import (
	"io"
	"testing"

	"github.com/sitelink/sitelink/internal/run/setup"
)

// TestCommandNames: the printer knows each command that a text may name, and finds it among
// words, names and paths.
func TestCommandNames(t *testing.T) {
	for _, cmd := range rootCommand(testApp(io.Discard, io.Discard)).Commands() {
		if text := "run sitelink " + cmd.Name() + ", then"; setup.Commands("npx sitelink", text) != "run npx sitelink "+cmd.Name()+", then" {
			t.Errorf("%s is not known as a command", cmd.Name())
		}
	}
	for text, want := range map[string]string{
		"npx sitelink check; sitelink check":     "npx sitelink check; npx sitelink check",
		"sitelink reads, sitelink checks":        "sitelink reads, sitelink checks",
		"/opt/sitelink check, my-sitelink check": "/opt/sitelink check, my-sitelink check",
		"`sitelink --help`":                      "`npx sitelink --help`",
	} {
		if got := setup.Commands("npx sitelink", text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := setup.Commands("", "sitelink check"); got != "sitelink check" {
		t.Errorf("without packages: %q", got)
	}
}
