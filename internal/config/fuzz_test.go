package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// FuzzConfig: whatever the file holds, reading it ends without panic, and
// every fault names a line of the file and says something on one line.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"docroot = \"public\"\nbase-url = [\"https://example.org/\"]\n[check]\njobs = 4\nfragments = false\nprogress = \"auto\"\n",
		"[[ignore]]\nurl = \"/a/**\"\nreason = \"x\"\n[[ignore]]\n",
		"ignore = [{url = \"/a\", reason = \"b\"}, {}]\ncheck = {jobs = 0x_1}\n",
		"check.jobs = 1\ncheck.\"jobs\" = 2\n[check]\n[check.x]\n[[check]]\n[ignore.x]\n",
		"a.b.c = [[[[{a = [1, 1.5, 1979-05-27T07:32:00Z, inf]}]]]]\n", "\xef\xbb\xbf\xff", "x = '''\n\n", "max-page-size = \"9999999999999999999GiB\"",
		"ignore.url = 1\nignore = 1\n[ignore]\n", "jobs = 99999999999999999999\n",
		"a = [1]\n[[a]]\n", "a.b = 1\na.b.c = 2\n", "[a]\n[[a.b]]\n[a.b.c]\nx = 1\n[[a.b]]\n", "x = [{a = 1}, {a = 2}]\n[x.y]\n", "[check]\n[[ignore]]\n[ignore.x]\ny = {}\n",
		"[[external.host]]\n[external]\npace = []\n[[external.host.x]]\n", "a = []\n[a.b]\n", "check.jobs.x = 1\n[check.jobs]\n", "site = []\n[[site]]\nroot = ''\n", "\"\" = 1\n[\"\"]\n'' = {}\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxFileBytes {
			return
		}
		l := newLoader(Input{Profiles: testProfiles, Codes: testCodes})
		l.toml("sitelink.toml", "dir", []byte(text))
		lines := strings.Count(text, "\n") + 1
		for _, err := range l.errs {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Line > lines || e.Column < 1 {
				t.Errorf("no line of the file: %#v", err)
			}
			if e.Msg == "" || strings.ContainsAny(e.Error()+e.Hint, "\n\r\x00\x1b") {
				t.Errorf("not a message for one line: %q, %q", e.Error(), e.Hint)
			}
		}
		if len(l.errs) > maxErrors {
			t.Errorf("%d faults reported", len(l.errs))
		}
		if len(l.errs) == 0 {
			for _, r := range l.cfg.Ignores {
				if r.Reason == "" || r.check(newLoader(Input{Codes: testCodes})) != nil {
					t.Errorf("accepted %+v", r)
				}
			}
		}
	})
}

// A hostile file of the largest size is read in bounded time (measured: 0.6 s for
// keys, below 0.1 s for the others) and its faults fit on a screen.
func TestHostileFiles(t *testing.T) {
	var manyKeys, manyRules strings.Builder
	keyBytes := (maxFileBytes - 40) / testkit.Longer(10, 1) // each makes a message; the race detector makes that slow
	for i := 0; manyKeys.Len() < keyBytes; i++ {
		fmt.Fprintf(&manyKeys, "k%d = 1\n", i)
	}
	for i := 0; manyRules.Len() < maxFileBytes-40; i++ {
		fmt.Fprintf(&manyRules, "[[ignore]]\nurl = \"/%d\"\nreason = \"x\"\n", i)
	}
	for name, text := range map[string]string{
		"keys":     manyKeys.String(),
		"rules":    manyRules.String(),
		"brackets": "index = " + strings.Repeat("[", maxFileBytes/2),
		"braces":   strings.Repeat("a={", maxFileBytes/4),
		"dots":     strings.Repeat("a.", maxFileBytes/3) + "a = 1",
		"header":   "[" + strings.Repeat("a.", maxFileBytes/3) + "a]",
		"list":     "index = [" + strings.Repeat("\"a\",", maxFileBytes/5) + "]",
		"string":   "docroot = \"" + strings.Repeat("\\u0041", maxFileBytes/7) + "\"",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			l := newLoader(Input{Profiles: testProfiles, Codes: testCodes})
			l.toml("sitelink.toml", ".", []byte(text))
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
			for _, err := range l.errs {
				if message := err.Error(); len(message) > maxMessageBytes+100 {
					t.Errorf("a message of %d bytes", len(message))
				}
			}
		})
	}
}
