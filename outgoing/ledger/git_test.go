package ledger

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

const gitRef = "git:refs/sitelink/ledger"

// gitEnv returns an environment without the user's git settings.
func gitEnv(t testing.TB) []string {
	return append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, gitEnv(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// remote makes a bare repository.
func remote(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := filepath.Join(t.TempDir(), "remote.git")
	git(t, ".", "init", "--quiet", "--bare", dir)
	return dir
}

// clone makes a fresh clone without the ledger, as in CI.
func clone(t testing.TB, remote string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "init", "--quiet", dir)
	git(t, dir, "remote", "add", "origin", remote)
	return dir
}

func openGit(t testing.TB, dir, runner string) *Git {
	t.Helper()
	g := testkit.Must(OpenGit(ctx, gitRef, GitOptions{Dir: dir, Env: gitEnv(t), Runner: runner, Warn: func(s string) { t.Log(runner + ": " + s) }}))(t)
	return g
}

func TestGit(t *testing.T) {
	r := remote(t)
	g := openGit(t, clone(t, r), "one")
	s, err := g.Load(ctx)
	if testkit.Check(t, err); !s.New {
		t.Error("a remote without the ref is not new")
	}
	testkit.Check(t, g.Close()) // and nothing was planned
	g = openGit(t, clone(t, r), "one")
	if s, _ := g.Load(ctx); !s.New {
		t.Error("not new the second time")
	}
	all := pendingNotices(3)
	for i := range all {
		all[i].Hash = "1"
	}
	testkit.Check(t, g.Plan(ctx, site, Change{Notices: all, Pages: []Page{{URL: all[0].Source, Hash: "1"}}}))
	claimed, err := g.Claim(ctx, time.Now(), 2)
	if testkit.Check(t, err); len(claimed) != 2 || claimed[0].Runner != "" {
		t.Fatalf("claimed %+v", claimed)
	}
	testkit.Check(t, g.Begin(ctx, claimed[0].Key))
	n := claimed[0]
	n.Protocol, n.State = Webmention, Done
	testkit.Check(t, g.Record(ctx, claimed[0].Key, n))
	testkit.Check(t, g.Close())

	// Another clone has all of it, and the claim was released.
	h := openGit(t, clone(t, r), "two")
	got := states(t, h)
	if len(got) != 3 || got[n.Key] != Done || got[all[1].Key] != Pending {
		t.Errorf("%v", got)
	}
	again, err := h.Claim(ctx, time.Now(), 10)
	if testkit.Check(t, err); len(again) != 2 || again[0].State != Pending {
		t.Errorf("claimed %+v", again)
	}
	testkit.Check(t, h.Close())
	if subject := git(t, r, "log", "-1", "--format=%s %an", "refs/sitelink/ledger"); subject != "sitelink: ledger of "+site+" sitelink" {
		t.Errorf("the commit says %q", subject)
	}
	if text := git(t, r, "cat-file", "blob", "refs/sitelink/ledger:ledger.jsonl"); !strings.HasPrefix(text, `{"sitelink":"ledger","version":2,"base":"`+site+`","pages":1,"notices":3,"sum":"`) || strings.Contains(text, "runner") {
		t.Errorf("the file is\n%s", text)
	}
}

// If two runners deploy the same site at the same time, each notice is claimed by
// one of them.
func TestGitRace(t *testing.T) {
	t.Parallel() // it waits most of the time
	r := remote(t)
	const notices = 30
	all := pendingNotices(notices)
	for i := range all {
		all[i].Hash = "1"
	}
	g := openGit(t, clone(t, r), "zero")
	testkit.Check(t, g.Plan(ctx, site, Change{Pages: []Page{{URL: "https://example.org/", Hash: "0"}}}))
	testkit.Check(t, g.Close())
	var mu sync.Mutex
	sent := map[string]int{}
	var wg sync.WaitGroup
	for i := range 2 {
		g := openGit(t, clone(t, r), fmt.Sprintf("runner%d", i))
		wg.Go(func() {
			fail := func(err error) bool {
				if err != nil {
					t.Error(err)
				}
				return err != nil
			}
			if fail(g.Plan(ctx, site, Change{Notices: all, Pages: []Page{{URL: fmt.Sprintf("https://example.org/%d", i), Hash: "1"}}})) {
				return
			}
			for {
				claimed, err := g.Claim(ctx, time.Now(), 9)
				if fail(err) || len(claimed) == 0 {
					break
				}
				for _, n := range claimed {
					if fail(g.Begin(ctx, n.Key)) {
						return
					}
					mu.Lock()
					sent[n.Source]++
					mu.Unlock()
					from := n.Key
					n.Protocol, n.State = Webmention, Done
					if fail(g.Record(ctx, from, n)) {
						return
					}
				}
			}
			fail(g.Close())
		})
	}
	wg.Wait()
	if len(sent) != notices {
		t.Errorf("%d notices were sent", len(sent))
	}
	for source, n := range sent {
		if n != 1 {
			t.Errorf("%s was sent %d times", source, n)
		}
	}
	h := openGit(t, clone(t, r), "three")
	defer h.Close()
	for k, s := range states(t, h) {
		if s != Done || k.Protocol != Webmention {
			t.Errorf("%v is %s", k, s)
		}
	}
	if s, _ := h.Load(ctx); len(s.Pages) != 3 || len(s.Notices) != notices {
		t.Errorf("%d pages, %d notices", len(s.Pages), len(s.Notices))
	}
}

// If a runner dies and its disk is lost, another one gets its notices as in flight
// when the lease ends. If the disk is kept, the journal has the outcomes.
func TestGitCrash(t *testing.T) {
	testkit.Long(t)
	t.Parallel() // it waits most of the time
	r := remote(t)
	all := pendingNotices(3)
	dir := clone(t, r)
	g := openGit(t, dir, "dead")
	testkit.Check(t, g.Plan(ctx, site, Change{Notices: all}))
	claimed := testkit.Must(g.Claim(ctx, time.Now(), 2))(t)
	testkit.Check(t, g.Begin(ctx, claimed[0].Key))
	done := claimed[0]
	done.State = Done
	testkit.Check(t, g.Record(ctx, done.Key, done))
	testkit.Check(t, g.Begin(ctx, claimed[1].Key))
	close(g.stop)
	<-g.stopped
	g.local.crash()

	h := openGit(t, clone(t, r), "other")
	got, err := h.Claim(ctx, time.Now(), 10)
	if testkit.Check(t, err); len(got) != 1 || got[0].Key != all[2].Key {
		t.Errorf("while the lease holds: %+v", got)
	}
	h.now = func() time.Time { return time.Now().Add(time.Hour) }
	got, err = h.Claim(ctx, time.Now(), 10)
	if testkit.Check(t, err); len(got) != 2 || got[0].State != InFlight || got[1].State != InFlight {
		t.Errorf("after the lease: %+v", got)
	}
	testkit.Check(t, h.Close())

	g = openGit(t, dir, "dead") // the machine is back
	s := states(t, g)
	if s[done.Key] != Done || s[claimed[1].Key] != InFlight {
		t.Errorf("with its disk: %v", s)
	}
	testkit.Check(t, g.Close())
	k := openGit(t, clone(t, r), "later")
	defer k.Close()
	if s := states(t, k); s[done.Key] != Done {
		t.Errorf("after it was pushed: %v", s)
	}
}

// When a runner has ended, others take over its claims at once. The next run with
// the same local files takes over their exact state. A run that only knows that the
// runner has ended takes them over as in flight. Other runs leave them and can name
// the runner.
func TestGitTakeOver(t *testing.T) {
	t.Parallel() // it waits most of the time
	r := remote(t)
	all := pendingNotices(3)
	dir := clone(t, r)
	g := openGit(t, dir, "dead")
	testkit.Check(t, g.Plan(ctx, site, Change{Notices: all}))
	claimed := testkit.Must(g.Claim(ctx, time.Now(), 10))(t)
	testkit.Check(t, g.Begin(ctx, claimed[0].Key))
	close(g.stop)
	<-g.stopped
	g.local.crash()

	other := openGit(t, clone(t, r), "other")
	got, err := other.Claim(ctx, time.Now(), 10)
	if testkit.Check(t, err); len(got) > 0 {
		t.Errorf("another runner took %+v", got)
	}
	held, err := other.Held(ctx, time.Now())
	if testkit.Check(t, err); len(held) != 1 || held[0].Runner != "dead" || held[0].Notices != 3 || time.Until(held[0].Until) < 10*time.Minute {
		t.Errorf("held: %+v", held)
	}
	testkit.Check(t, other.Close())

	again := openGit(t, dir, "again")
	got, err = again.Claim(ctx, time.Now(), 2)
	if testkit.Check(t, err); len(got) != 2 || got[0].State != InFlight || got[1].State != Pending {
		t.Errorf("with the journal: %+v", got)
	}
	close(again.stop)
	<-again.stopped
	again.local.crash()

	var asked []string
	knowing, err := OpenGit(ctx, gitRef, GitOptions{Dir: clone(t, r), Env: gitEnv(t), Runner: "knowing", Ended: func(name string) bool {
		asked = append(asked, name)
		return name == "dead"
	}})
	testkit.Check(t, err)
	got, err = knowing.Claim(ctx, time.Now(), 10)
	if testkit.Check(t, err); len(got) != 1 || got[0].State != InFlight || len(asked) != 2 {
		t.Errorf("of a runner that has ended: %+v, asked for %q", got, asked)
	}
	testkit.Check(t, knowing.Close())

	last := openGit(t, dir, "last") // knows both from its own files
	got, err = last.Claim(ctx, time.Now(), 10)
	if testkit.Check(t, err); len(got) != 3 || got[0].State != InFlight || got[1].State != Pending {
		t.Errorf("after two killed runs: %+v", got)
	}
	testkit.Check(t, last.Close())
	if _, err := os.Stat(last.runnersFile()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after it closed: %v", err)
	}
}

// The remote never lacks the outcome of more than 20 notices, however many are sent at
// once.
func TestGitUntold(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, workers := range []int{1, 40} {
		r := remote(t)
		all := pendingNotices(70)
		g := openGit(t, clone(t, r), "dead")
		testkit.Check(t, g.Plan(ctx, site, Change{Notices: all}))
		claimed := testkit.Must(g.Claim(ctx, time.Now(), len(all)))(t)
		jobs := make(chan Notice)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for n := range jobs {
					if err := g.Begin(ctx, n.Key); err != nil {
						t.Error(err)
						return
					}
					from := n.Key
					n.Protocol, n.State = Webmention, Done
					if err := g.Record(ctx, from, n); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for _, n := range claimed {
			jobs <- n
		}
		close(jobs)
		wg.Wait()
		close(g.stop)
		<-g.stopped
		g.local.crash()

		h := openGit(t, clone(t, r), "other")
		held, err := h.Held(ctx, time.Now())
		if testkit.Check(t, err); len(held) != 1 || held[0].Notices == 0 || held[0].Notices > maxUntold || held[0].Sent != held[0].Notices {
			t.Errorf("%d workers: held %+v", workers, held)
		}
		done := 0
		for _, s := range states(t, h) {
			if s == Done {
				done++
			}
		}
		if done < len(all)-maxUntold {
			t.Errorf("%d workers: the remote knows %d outcomes of %d", workers, done, len(all))
		}
		testkit.Check(t, h.Close())
	}
}

// A notice is not begun after its lease has ended, or if another runner has it.
func TestGitLeaseChecked(t *testing.T) {
	r := remote(t)
	g := openGit(t, clone(t, r), "slow")
	testkit.Check(t, g.Plan(ctx, site, Change{Notices: pendingNotices(2)}))
	claimed := testkit.Must(g.Claim(ctx, time.Now(), 1))(t)
	testkit.Check(t, g.Begin(ctx, claimed[0].Key))
	if err := g.Begin(ctx, pendingNotices(2)[1].Key); err == nil {
		t.Error("a notice was begun without a claim")
	}
	g.now = func() time.Time { return time.Now().Add(16 * time.Minute) }
	if err := g.Begin(ctx, claimed[0].Key); err == nil || !strings.Contains(err.Error(), "the lease of a notice ended before it was sent") {
		t.Errorf("after the lease: %v", err)
	}
	g.now = time.Now
	testkit.Check(t, g.Close())
}

// A runner that lives renews its leases. The clocks of both runners then show a time
// after the end of the first lease, so that a slow machine does not matter.
func TestGitLeaseRenewed(t *testing.T) {
	testkit.Long(t)
	t.Parallel() // it waits most of the time
	r := remote(t)
	g := testkit.Must(OpenGit(ctx, gitRef, GitOptions{Dir: clone(t, r), Env: gitEnv(t), Runner: "long", Lease: 4 * time.Second}))(t)
	testkit.Check(t, g.Plan(ctx, site, Change{Notices: pendingNotices(1)}))
	claimed := testkit.Must(g.Claim(ctx, time.Now(), 1))(t)
	lease := func() time.Time {
		p := testkit.Must(parse("remote", git(t, r, "cat-file", "blob", "refs/sitelink/ledger:ledger.jsonl")+"\n"))(t)
		return p.notices[claimed[0].Key].Lease
	}
	first := lease()
	for end := time.Now().Add(time.Minute); lease().Sub(first) < 2*time.Second; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the lease is not renewed")
		}
	}
	later := func() time.Time { return first.Add(time.Second) }
	other := openGit(t, clone(t, r), "other")
	other.mu.Lock()
	other.now = later
	other.mu.Unlock()
	got, err := other.Claim(ctx, time.Now(), 1)
	if testkit.Check(t, err); len(got) > 0 {
		t.Error("another runner took a notice whose lease is renewed")
	}
	testkit.Check(t, other.Close())
	g.mu.Lock()
	g.now = later
	g.mu.Unlock()
	testkit.Check(t, g.Begin(ctx, claimed[0].Key))
	testkit.Check(t, g.Close())
}

// If the remote cannot be reached, the error names it and nothing is lost.
func TestGitUnreachable(t *testing.T) {
	t.Parallel() // it waits most of the time
	r := remote(t)
	dir := clone(t, r)
	g := openGit(t, dir, "one")
	all := pendingNotices(1)
	testkit.Check(t, g.Plan(ctx, site, Change{Notices: all}))
	claimed, err := g.Claim(ctx, time.Now(), 1)
	testkit.Check(t, err)
	testkit.Check(t, g.Begin(ctx, claimed[0].Key))
	n := claimed[0]
	n.State = Done
	testkit.Check(t, g.Record(ctx, n.Key, n))
	testkit.Check(t, os.Rename(r, r+".away"))
	err = g.Close()
	if err == nil || !strings.Contains(err.Error(), "the outcomes are kept in") || !strings.Contains(err.Error(), gitRef) {
		t.Errorf("close: %v", err)
	}
	if _, err := OpenGit(ctx, gitRef, GitOptions{Dir: dir, Env: gitEnv(t), Runner: "two"}); err == nil || !strings.Contains(err.Error(), "read ledger "+gitRef+": git ls-remote: ") {
		t.Errorf("open: %v", err)
	}
	testkit.Check(t, os.Rename(r+".away", r))
	h := openGit(t, dir, "three")
	if s := states(t, h); s[n.Key] != Done {
		t.Errorf("%v", s)
	}
	testkit.Check(t, h.Close())
	k := openGit(t, clone(t, r), "four")
	defer k.Close()
	if s := states(t, k); s[n.Key] != Done {
		t.Errorf("pushed: %v", s)
	}
	if _, err := OpenGit(ctx, gitRef, GitOptions{Dir: t.TempDir(), Env: gitEnv(t)}); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("outside of a repository: %v", err)
	}
}

// TestGitPushHook: a hook of the clone checks what people push, and does not run for
// the ledger: it may be that of sitelink, which would build the site.
func TestGitPushHook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the hook is a shell script")
	}
	dir := clone(t, remote(t))
	testkit.Check(t, os.WriteFile(filepath.Join(dir, ".git", "hooks", "pre-push"), []byte("#!/bin/sh\ntouch ran\nexit 1\n"), 0o755))
	g := openGit(t, dir, "one")
	testkit.Check(t, g.Plan(ctx, "https://me.example/", Change{Pages: []Page{{URL: "https://me.example/"}}}))
	testkit.Check(t, g.Close())
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the hook ran")
	}
}
