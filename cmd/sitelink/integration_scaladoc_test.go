//go:build integration && linux

package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// scaladocDocroot returns a part of Debian's scala-doc: a frame set of scaladoc
// 2.11 with its pages.
func scaladocDocroot(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SITELINK_CORPORA")
	if dir == "" {
		t.Skip("SITELINK_CORPORA is not set: it names a directory that holds scala-doc/ as unpacked by dpkg -x")
	}
	docroot := filepath.Join(dir, "scala-doc/usr/share/doc/scala-2.11/api/actors")
	testkit.Must(os.Stat(docroot))(t)
	return docroot
}

// routesOf returns the different fragments of the frame set that links ask for:
// those that are left to scaladoc's script, and those that are errors.
func routesOf(t *testing.T, docroot string) (served, broken []string) {
	t.Helper()
	eachLink(t, docroot, nil, func(r *row) {
		if r.Target != "/index.html" || r.Fragment == "" {
			return
		}
		switch r.Verdict + " " + r.Code {
		case "unchecked script-fragment":
			served = append(served, r.Fragment)
		case "error missing-fragment":
			broken = append(broken, r.Fragment)
		default:
			t.Errorf("%s: %s: %s %s", r.Page, r.Raw, r.Verdict, r.Code)
		}
	})
	slices.Sort(served)
	slices.Sort(broken)
	return slices.Compact(served), slices.Compact(broken)
}

// TestChromiumScaladoc: scaladoc's frame set shows the class of each fragment that
// sitelink leaves to its script, with the member, and it does not for those that
// sitelink reports.
func TestChromiumScaladoc(t *testing.T) {
	t.Parallel()
	docroot := scaladocDocroot(t)
	served, broken := routesOf(t, docroot)
	if len(served) < 2000 || len(broken) < 5 || len(broken) > 20 {
		t.Fatalf("%d routes and %d broken ones: want more than 2000, and the few whose members scaladoc names in another way", len(served), len(broken))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(served), func(i, j int) { served[i], served[j] = served[j], served[i] })
	served = append(served[:30:30], "package")
	broken = append(broken, "scala.actors.Nothing", "nope", "scala.actors.Actor@nope")
	origin := serveFixtures(t, docroot)
	b := testkit.StartBrowser(t, true)
	for i, route := range slices.Concat(served, broken) {
		b.Navigate("about:blank") // so that the frame set is loaded for each route
		b.Navigate(origin + "/index.html#" + route)
		if shows, got := frameShows(t, b, route); shows != (i < len(served)) {
			t.Errorf("%s: Chromium shows it: %v (%s)", route, shows, got)
		}
	}
	t.Logf("%d routes that the script serves, %d broken ones", len(served), len(broken))
}

// frameShows reports whether the frame of the frame set shows the class and member
// of a route. got is what it shows.
//
// A frame that shows them is an answer at once. A frame that does not is an answer
// only after its load event, and if it stays so: the frame set's script can replace
// a document that is still loading, and the replaced document is then complete, but
// empty.
func frameShows(t *testing.T, b *testkit.Browser, route string) (shows bool, got string) {
	t.Helper()
	class, member, hasMember := strings.Cut(route, "@")
	want := "/" + strings.ReplaceAll(class, ".", "/") + ".html"
	var missing time.Time // since when the frame does not show them
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(20 * time.Millisecond) {
		var state struct {
			Path, Hash, Title string
			Loaded, Target    bool
			Status            int
		}
		b.Eval(`(() => {
			try {
				const f = frames["template"], d = f.document, n = f.performance.getEntriesByType("navigation")[0]
				return {path: f.location.pathname, hash: f.location.hash, title: d.title, target: d.querySelector(":target") !== null,
					loaded: d.readyState == "complete" && n.loadEventEnd > 0, status: n.responseStatus}
			} catch { // no frame, or between two documents
				return {}
			}
		})()`, &state)
		now := fmt.Sprintf("%+v", state)
		switch {
		case !state.Loaded || !strings.EqualFold(state.Path, want) || hasMember && state.Hash == "":
			missing = time.Time{}
		case state.Status == 200 && state.Title != "" && (!hasMember || member != "" && state.Target):
			return true, now
		case missing.IsZero() || now != got:
			missing = time.Now()
		case time.Since(missing) >= time.Second:
			return false, now
		}
		got = now
	}
	t.Fatalf("%s: after a minute the frame still has no answer: %s", route, got)
	return false, got
}

// TestScaladocBreaks: 502 breaks of ordinary form in the pages of a scaladoc
// documentation, a third of them in links to the frame set, are errors. The frame
// set keeps its one warning.
func TestScaladocBreaks(t *testing.T) {
	t.Parallel()
	const breaks = 502
	docroot := filepath.Join(t.TempDir(), "actors")
	testkit.Check(t, os.CopyFS(docroot, os.DirFS(scaladocDocroot(t))))
	pages, err := filepath.Glob(filepath.Join(docroot, "scala/actors/*.html"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	before := missingFragments(t, docroot)
	for i := range breaks {
		page := pages[i%len(pages)]
		to := []string{"../../index.html", "", filepath.Base(pages[(i*7+1)%len(pages)])}[i%3]
		fragment := []string{"section-%d", "getOrElse%d", "installation.%d", "Überblick-%d", "the_%d_way"}[i%5]
		text := testkit.Read(t, page)
		link := fmt.Sprintf("<a href=\"%s#"+fragment+"\">x</a></body>", strings.ReplaceAll(to, "$", "%24"), 9000+i)
		changed := bytes.Replace(text, []byte("</body>"), []byte(link), 1)
		if bytes.Equal(changed, text) {
			t.Fatalf("%s has no end tag of body", page)
		}
		testkit.Check(t, os.WriteFile(page, changed, 0o644))
	}
	if got := missingFragments(t, docroot) - before; got != breaks {
		t.Errorf("%d of %d breaks are errors", got, breaks)
	}
	warnings := 0
	out, _ := exec.Command(sitelinkProgram(t), "check", docroot, "--format", "jsonl").Output() // it exits with 1
	for line := range bytes.Lines(out) {
		if bytes.Contains(line, []byte(`"code":"script-fragment"`)) {
			warnings++
		}
	}
	if warnings != 1 {
		t.Errorf("%d warnings for the frame set, want 1", warnings)
	}
}

func missingFragments(t *testing.T, docroot string) (n int) {
	t.Helper()
	eachLink(t, docroot, nil, func(r *row) {
		if r.Code == "missing-fragment" {
			n++
		}
	})
	return n
}
