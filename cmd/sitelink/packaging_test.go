package main

import (
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
)

func TestManual(t *testing.T) {
	page := manual(rootCommand(testApp(io.Discard, io.Discard)))
	if again := manual(rootCommand(testApp(io.Discard, io.Discard))); again != page {
		t.Error("two pages differ")
	}
	for _, k := range config.Keys() {
		if !k.Rare && !strings.Contains(page, escapeRoff("--"+k.Name)) {
			t.Errorf("the page lacks --%s", k.Name)
		}
	}
	for _, want := range []string{".TH \"SITELINK\" \"1\"", "130  interrupted\n", ".SH \"SITELINK CHECK\"\n", ".SH \"SITELINK BASELINE UPDATE\"\n", "sitelink check public \\-\\-base\\-url", "SITELINK_DEBUG"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "SITELINK MAN\"") {
		t.Error("the page shows a hidden command")
	}
	// Each line is a request that we mean, or text.
	request := regexp.MustCompile(`^\.(TH|SH|nf|fi)( |$)`)
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !request.MatchString(line) {
			t.Errorf("not a request: %q", line)
		}
	}
}

// If groff is installed, it reports no errors.
func TestManualFormats(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("no groff here")
	}
	cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
	cmd.Stdin = strings.NewReader(manual(rootCommand(testApp(io.Discard, io.Discard))))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestEscapeRoff(t *testing.T) {
	for in, want := range map[string]string{
		`--a\b`: `\-\-a\eb`,
		"it's":  `it\(aqs`,
		"~/.x":  `\(ti/.x`,
	} {
		if got := escapeRoff(in); got != want {
			t.Errorf("escapeRoff(%q) = %q, want %q", in, got, want)
		}
	}
}
