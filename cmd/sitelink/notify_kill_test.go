//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// scriptedHosts are hosts on loopback addresses that take webmentions, and one
// more that serves a site.
type scriptedHosts struct {
	port string
	site string // address of the site

	mu   sync.Mutex
	got  map[string]int // "SOURCE TARGET": how often
	slow time.Duration  // how long an answer may take
	hold chan struct{}  // if not nil, answers wait until it is closed
}

// newScriptedHosts serves targets at 127.1.0.1 and the following addresses, and
// docroot at 127.1.200.1.
func newScriptedHosts(t testing.TB, hosts int, docroot string) *scriptedHosts {
	t.Helper()
	s := &scriptedHosts{got: map[string]int{}}
	first, err := net.Listen("tcp", "127.1.200.1:0")
	if err != nil {
		t.Skipf("no loopback address but 127.0.0.1: %v", err)
	}
	_, s.port, _ = net.SplitHostPort(first.Addr().String())
	s.site = "http://127.1.200.1:" + s.port + "/"
	serve := func(l net.Listener, h http.Handler) {
		server := &http.Server{Handler: h}
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })
	}
	serve(first, http.FileServer(http.Dir(docroot)))
	targets := http.HandlerFunc(s.target)
	for i := range hosts {
		l, err := net.Listen("tcp", hostAddress(i)+":"+s.port)
		if err != nil {
			t.Skipf("listen: %v", err)
		}
		serve(l, targets)
	}
	return s
}

func hostAddress(i int) string { return fmt.Sprintf("127.1.%d.%d", i/250, i%250+1) }

func (s *scriptedHosts) target(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		fmt.Fprint(w, `<!doctype html><title>t</title><link rel=webmention href=/wm>`)
		return
	case http.MethodPost:
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	r.ParseForm()
	s.mu.Lock()
	s.got[r.PostForm.Get("source")+" "+r.PostForm.Get("target")]++
	s.mu.Unlock()
	if s.slow > 0 {
		time.Sleep(rand.N(s.slow))
	}
	if s.hold != nil {
		<-s.hold
	}
	w.WriteHeader(http.StatusAccepted)
}

// linkingSite makes a docroot of pages that each link to a page of each host.
func linkingSite(t testing.TB, docroot string, s *scriptedHosts, pages, hosts int) {
	t.Helper()
	for p := range pages {
		var text strings.Builder
		fmt.Fprintf(&text, "<!doctype html><title>%d</title><article>", p)
		for h := range hosts {
			fmt.Fprintf(&text, `<a href="http://%s:%s/post/%d">link %d</a> `, hostAddress(h), s.port, p, h)
		}
		dir := filepath.Join(docroot, fmt.Sprintf("p%03d", p))
		testkit.Check(t, os.MkdirAll(dir, 0o755))
		testkit.Check(t, os.WriteFile(filepath.Join(dir, "index.html"), []byte(text.String()), 0o644))
	}
}

// ownProject makes dir a project of its own, so that nothing is kept in ours.
func ownProject(t *testing.T, dir string) string {
	t.Helper()
	testkit.Check(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
	return dir
}

// TestNotifyKilled: notify --send of notices to 50 hosts is killed at random
// moments and run again until it ends. No notice is lost, and none is
// sent twice but those that the journal names as in flight at the kill, which
// the report of the next run counts (PB-41). SITELINK_KILL_RUNS=200 is the full
// form, of 1,000 notices.
func TestNotifyKilled(t *testing.T) {
	testkit.Long(t)
	const hosts = 50
	runs, pages := 10, 3
	if text := os.Getenv("SITELINK_KILL_RUNS"); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		pages = 20
	}
	work := t.TempDir()
	docroot := filepath.Join(work, "public")
	testkit.Check(t, os.MkdirAll(docroot, 0o755))
	testkit.Check(t, os.WriteFile(filepath.Join(docroot, "index.html"), []byte("<!doctype html><title>home</title>"), 0o644))
	s := newScriptedHosts(t, hosts, docroot)
	s.slow = 4 * time.Millisecond
	file := filepath.Join(work, "ledger.jsonl")
	notify := func() *exec.Cmd {
		cmd := exec.Command("sitelink", "notify", docroot, "--base-url", s.site, "--ledger", file, "--pace", "0",
			"--max-notices", "0", "--allow-address", "127.0.0.0/8", "--send", "--format", "json")
		cmd.Dir = ownProject(t, work)
		return cmd
	}
	if out, err := notify().CombinedOutput(); err != nil || !strings.Contains(string(out), "there was no ledger: recorded 0 pages with 0 links") {
		t.Fatalf("first run: %v\n%s", err, out)
	}
	first := testkit.Read(t, file)
	linkingSite(t, docroot, s, pages, hosts)

	// An undisturbed run, to know how long the moments are.
	began := time.Now()
	testkit.Run(t, notify())
	whole := time.Since(began)
	if len(s.got) != pages*hosts {
		t.Fatalf("%d notices arrived, want %d", len(s.got), pages*hosts)
	}

	kills, inFlightAll, twiceAll := 0, 0, 0
	for range runs {
		s.mu.Lock()
		clear(s.got)
		s.mu.Unlock()
		for _, ending := range []string{"journal", "lock"} {
			os.Remove(strings.TrimSuffix(file, ".jsonl") + "." + ending)
		}
		testkit.Check(t, os.WriteFile(file, first, 0o644))
		mayRepeat, last, left := map[string]bool{}, 0, 30 // kills, so that a machine that has become slow finishes too
		for killed := true; killed; {
			cmd := notify()
			var out strings.Builder
			cmd.Stdout = &out
			testkit.Check(t, cmd.Start())
			timer := time.AfterFunc(rand.N(whole), func() { cmd.Process.Kill() })
			if left--; left < 0 {
				timer.Stop()
			}
			err := cmd.Wait()
			killed = !timer.Stop() && err != nil
			inFlight := stillInFlight(t, file)
			if killed {
				kills++
				inFlightAll += len(inFlight)
				last = len(inFlight)
				for _, k := range inFlight {
					mayRepeat[k] = true
				}
				continue
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if len(inFlight) > 0 {
				t.Errorf("in flight after a run that ended: %q", inFlight)
			}
			var report struct{ Failed, Left, Repeated int }
			if err := json.Unmarshal([]byte(out.String()), &report); err != nil || report.Failed+report.Left > 0 || report.Repeated != last {
				t.Fatalf("%v, %d were in flight, %s", err, last, out.String())
			}
		}
		s.mu.Lock()
		if len(s.got) != pages*hosts {
			t.Errorf("%d notices arrived, want %d", len(s.got), pages*hosts)
		}
		for k, n := range s.got {
			if n > 1 {
				twiceAll++
				if !mayRepeat[k] {
					t.Errorf("%s arrived %d times, and was not known to be in flight", k, n)
				}
			}
		}
		s.mu.Unlock()
	}
	t.Logf("%d runs of %d notices (%v undisturbed), %d kills: none lost; %d were in flight at a kill, %d of them arrived twice",
		runs, pages*hosts, whole.Round(time.Millisecond), kills, inFlightAll, twiceAll)
}

// stillInFlight returns the notices that a killed run left in flight.
func stillInFlight(t *testing.T, file string) (all []string) {
	t.Helper()
	store := testkit.Must(ledger.OpenFile(file, ledger.FileOptions{ReadOnly: true}))(t)
	snap := testkit.Must(store.Load(t.Context()))(t)
	for _, n := range snap.Notices {
		if n.State == ledger.InFlight {
			all = append(all, n.Source+" "+n.Target)
		}
	}
	return all
}

// The first Ctrl-C lets what is on its way come to its end, records it, says
// what is left, and ends with 130.
func TestNotifyInterrupted(t *testing.T) {
	const pages, hosts = 2, 10
	work := t.TempDir()
	docroot, file := filepath.Join(work, "public"), filepath.Join(work, "ledger.jsonl")
	testkit.Check(t, os.Mkdir(docroot, 0o755))
	testkit.Check(t, os.WriteFile(filepath.Join(docroot, "index.html"), []byte("<!doctype html><title>home</title>"), 0o644))
	s := newScriptedHosts(t, hosts, docroot)
	s.hold = make(chan struct{})
	notify := func() *exec.Cmd {
		cmd := exec.Command("sitelink", "notify", docroot, "--base-url", s.site, "--ledger", file, "--pace", "1s", "--allow-address", "127.0.0.0/8", "--send")
		cmd.Dir = ownProject(t, work)
		return cmd
	}
	testkit.Run(t, notify())
	linkingSite(t, docroot, s, pages, hosts)
	cmd := notify()
	var out strings.Builder
	cmd.Stdout = &out
	stderr := testkit.Must(cmd.StderrPipe())(t)
	testkit.Check(t, cmd.Start())
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		arrived := len(s.got)
		s.mu.Unlock()
		if arrived > 0 {
			break
		}
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			close(s.hold)
			t.Fatal("nothing was sent")
		}
	}
	testkit.Check(t, cmd.Process.Signal(os.Interrupt))
	// No answer comes before it knows of the interrupt.
	line, _ := bufio.NewReader(stderr).ReadString('\n')
	close(s.hold)
	rest, _ := io.ReadAll(stderr)
	checkExit(t, cmd.Wait(), exitInterrupted)
	if line != "sitelink: interrupted\n" || len(rest) > 0 || !strings.Contains(out.String(), " not tried") {
		t.Errorf("stderr %q and %q, stdout %q", line, rest, out.String())
	}
	if inFlight := stillInFlight(t, file); len(inFlight) > 0 {
		t.Errorf("left in flight: %q", inFlight)
	}
	testkit.Run(t, notify())
	for k, n := range s.got {
		if n != 1 {
			t.Errorf("%s arrived %d times", k, n)
		}
	}
	if len(s.got) != pages*hosts {
		t.Errorf("%d of %d arrived", len(s.got), pages*hosts)
	}
}
