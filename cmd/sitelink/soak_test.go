//go:build linux

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// soakPatience is the time for what should take milliseconds. The receiver ends a slow
// request after 20 seconds.
const soakPatience = time.Minute

// soak is a running receiver under mixed traffic.
type soak struct {
	t       *testing.T
	dir     string
	store   string
	address string
	cmd     *exec.Cmd
	exited  chan struct{}
	sources *soakSources
	ctx     context.Context // ends with the traffic
	number  atomic.Int64
	others  sync.WaitGroup // slow clients
	slow    chan struct{}

	mu       sync.Mutex
	problems int
	counts   map[string]int
	accepted map[[2]string]soakNotice // by source and target
	recent   []soakNotice
	samples  []soakSample
}

// soakSample is what the process uses at a time.
type soakSample struct {
	at                             time.Duration
	heap, goroutines, files, rss   int64
	database, log, rest, directory int64 // bytes, and the number of files
	mentions                       int64
}

// TestSoak drives the receiver with good, bad and hostile traffic of a seeded
// generator, with slow clients and slow sources, while a moderator decides, exports
// and backs up. SITELINK_SOAK is the duration, such as 30m, after which the growth is
// compared; without it, the test is short. SITELINK_SOAK_SEED repeats a run, and
// SITELINK_SOAK_STORE is the address of an empty PostgreSQL database instead of a file.
//
// The receiver is not behind a proxy: nginx answers most hostile requests, and the
// draft's request line, itself (TestProxies), so that this would test nginx.
func TestSoak(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	runSoak(t, cmp.Or(os.Getenv("SITELINK_SOAK_STORE"), soakFile), 3*time.Second)
}

// soakFile is the store without another.
const soakFile = "mentions.db"

func runSoak(t *testing.T, store string, duration time.Duration) {
	pause := 10 * time.Millisecond
	if text := os.Getenv("SITELINK_SOAK"); text != "" {
		var err error
		if duration, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		pause = 250 * time.Millisecond
	}
	seed, _ := strconv.ParseUint(cmp.Or(os.Getenv("SITELINK_SOAK_SEED"), "15"), 10, 64)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &soak{t: t, dir: t.TempDir(), store: store, ctx: ctx, sources: newSoakSources(t), slow: make(chan struct{}, 40),
		counts: map[string]int{}, accepted: map[[2]string]soakNotice{}}
	s.start()
	before := s.sample(0)
	began := time.Now()
	go func() {
		defer cancel()
		// On a busy machine, a short run takes until every protocol got through.
		for every(ctx, duration); !s.through() && time.Since(began) < duration+2*soakPatience; every(ctx, 100*time.Millisecond) {
		}
	}()
	var drivers sync.WaitGroup
	for n := range uint64(8) {
		drivers.Go(func() { s.drive(rand.New(rand.NewPCG(seed, n)), pause) })
	}
	drivers.Go(func() { s.moderate(rand.New(rand.NewPCG(seed, 100)), duration) })
	drivers.Go(func() {
		for every(ctx, max(duration/400, 500*time.Millisecond)) {
			s.keep(s.sample(time.Since(began)))
		}
	})
	drivers.Wait()
	s.others.Wait()
	s.sources.release()
	defer s.report()
	s.quiet(before, duration)
	s.stop()
	s.checkStore(s.store, maps.Clone(s.accepted))
	s.checkLog()
	if n := s.sources.entered.Load(); n > 0 {
		t.Errorf("the receiver connected %d times to an address that it must not use", n)
	}
	for text := range s.sources.malformed {
		t.Errorf("a request for a source: %s", text)
	}
	if duration >= 10*time.Minute {
		s.checkGrowth(duration)
	}
}

func every(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// start starts the receiver for a site of some pages.
func (s *soak) start() {
	s.write("public/index.html", "<!doctype html><title>Home</title>")
	s.write("public/closed/index.html", "<!doctype html><title>Closed</title>")
	for n := range soakPages {
		s.writePage(n, 0)
	}
	s.write("sitelink.toml", "docroot = 'public'\nbase-url = ['"+servedBase+"']\n[incoming]\nstore = '"+s.store+"'\nclosed = ['closed/**']\nrate-address = 90\n"+
		"trusted-proxies = ['127.0.0.2']\nallow-address = ['127.0.0.0/9']\nmoderation = '"+servedBase+"moderation'\nwebhook = 'http://"+s.sources.hosts[0]+"/good/hook'\n")
	log := testkit.Must(os.Create(filepath.Join(s.dir, "log")))(s.t)
	defer log.Close()
	s.cmd = exec.Command("sitelink", "serve", "--listen", "127.0.0.1:0", "-v", "--config", "sitelink.toml")
	s.cmd.Dir, s.cmd.Stderr = s.dir, log
	s.cmd.Env = append(os.Environ(), "SITELINK_WEBHOOK_SECRET="+soakSecret+"-webhook", "SITELINK_MODERATION_KEY="+soakSecret+"-moderation")
	testkit.Check(s.t, s.cmd.Start())
	s.exited = make(chan struct{})
	go func() { s.cmd.Wait(); close(s.exited) }()
	s.t.Cleanup(func() { s.cmd.Process.Kill(); <-s.exited })
	listening := regexp.MustCompile(`receiving at http://(\S+) for`)
	s.until("the receiver listens", func() bool {
		text, _ := os.ReadFile(log.Name())
		m := listening.FindSubmatch(text)
		if m != nil {
			s.address = string(m[1])
		}
		return m != nil
	})
}

func (s *soak) write(name, text string) {
	testkit.Write(s.t, filepath.Join(s.dir, filepath.FromSlash(name)), text)
}

func (s *soak) writePage(n, version int) {
	s.write(fmt.Sprintf("public/p/%d/index.html", n), fmt.Sprintf("<!doctype html><title>Page %d</title><main><h1 id=a>Page</h1><p>Version %d of this page links to <a href='%s'>another site</a>.</main>", n, version, s.sources.outside(n)))
}

// until waits for a condition.
func (s *soak) until(what string, is func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(5 * soakPatience); !is(); time.Sleep(50 * time.Millisecond) {
		select {
		case <-s.exited:
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			s.t.Fatalf("the receiver ended: %.3000s", text)
		default:
		}
		if time.Now().After(deadline) {
			now := s.sample(0)
			s.cmd.Process.Signal(syscall.SIGQUIT) // prints the goroutines
			<-s.exited
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			_, stacks, _ := strings.Cut(string(text), "SIGQUIT")
			s.t.Fatalf("not in time: %s; %+v\n%.60000s", what, now, stacks)
		}
	}
}

// problem reports what must not happen. The first ones are enough.
func (s *soak) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problems++; s.problems <= 30 {
		s.t.Errorf(format, args...)
	}
}

func (s *soak) count(what, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what+": "+outcome]++
}

// accept remembers a notice that was answered as recorded.
func (s *soak) accept(n soakNotice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted[[2]string{n.source, n.target}] = n
	if s.recent = append(s.recent, n); len(s.recent) > 1000 {
		s.recent = s.recent[500:]
	}
}

// some returns one of the accepted notices of the last minutes.
func (s *soak) some() (soakNotice, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) == 0 {
		return soakNotice{}, false
	}
	return s.recent[rand.IntN(len(s.recent))], true
}

// dial connects to the receiver from an address.
func (s *soak) dial(from string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: soakPatience}
	return d.Dial("tcp", s.address)
}

// drive sends traffic until the time is over.
func (s *soak) drive(random *rand.Rand, pause time.Duration) {
	c := &soakClient{soak: s, random: random}
	defer c.hangUp()
	for every(s.ctx, time.Duration(random.Int64N(int64(2*pause)))) {
		switch n := random.IntN(1000); {
		case n < 500:
			c.notice("good", c.goodNotice())
		case n < 560:
			if n, ok := s.some(); ok && n.method == "LINK" {
				c.notice("good", n) // again
			}
		case n < 680:
			what, n := c.badNotice()
			c.notice(what, n)
		case n < 730:
			c.follow()
		case n < 860:
			c.attack()
		case n < 940:
			c.browse()
		case n < 965:
			c.vanish()
		case n < 995:
			c.dawdle()
		case n < 998:
			c.large()
		default:
			c.flood()
		}
		if random.IntN(5) == 0 {
			c.hangUp()
		}
	}
}

// run runs a command beside the receiver. It must succeed.
func (s *soak) run(args ...string) []byte {
	cmd := exec.Command("sitelink", append(args, "--config", "sitelink.toml")...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "SITELINK_MODERATION_KEY="+soakSecret+"-moderation")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.problem("%v: %v\n%s", args, err, &stderr)
	}
	s.count("command", strings.Join(args[:min(2, len(args))], " "))
	return out
}

func (s *soak) listed(args ...string) (all []listed) {
	out := s.run(append([]string{"mentions", "list", "--format", "json"}, args...)...)
	if err := json.Unmarshal(out, &all); err != nil {
		s.problem("%v: %v\n%.300s", args, err, out)
	}
	return all
}

// moderate decides, exports, backs up and deploys, all the time.
func (s *soak) moderate(random *rand.Rand, duration time.Duration) {
	blocked := ""
	for n := 1; every(s.ctx, max(duration/600, 300*time.Millisecond)); n++ {
		host, _, _ := net.SplitHostPort(s.sources.hosts[random.IntN(len(s.sources.hosts))])
		switch n % 8 {
		case 1, 5:
			for _, m := range s.listed("--state", "held", "--site", host) {
				s.run("mentions", []string{"approve", "approve", "deny"}[random.IntN(3)], m.ID)
				break
			}
		case 2:
			if m, ok := s.some(); ok && n > 8 && m.method == "LINK" {
				host = m.source // a page; a whole site would be verified again
			}
			blocked = host
			s.run("mentions", "block", blocked)
		case 3:
			s.run("mentions", "unblock", blocked)
		case 4:
			s.run("mentions", "export", "--output", "data", "--format", []string{"json", "yaml", "toml", "atom"}[n/8%4])
		case 6:
			s.writePage(random.IntN(soakPages), n)
			s.run("mentions", "login")
		case 7:
			if n%64 != 7 || s.store != soakFile { // PostgreSQL has its own backups
				continue
			}
			s.mu.Lock()
			accepted := maps.Clone(s.accepted)
			s.mu.Unlock()
			s.run("serve", "--backup", "backup.db")
			s.checkStore("backup.db", accepted)
			os.Remove(filepath.Join(s.dir, "backup.db"))
		}
	}
	if blocked != "" {
		s.run("mentions", "unblock", blocked)
	}
}

// checkStore checks that a store has each of these notices, and none of those that
// were refused.
func (s *soak) checkStore(name string, accepted map[[2]string]soakNotice) {
	all := s.listed("--state", "all", "--store", name)
	states := map[string]int{}
	for _, m := range all {
		delete(accepted, [2]string{m.Source, m.Target})
		states[m.State]++
		if strings.Contains(m.Source+m.Target, "/never/") || strings.Contains(m.Source, soakSecret) || m.ID == "" {
			s.problem("%s has a notice that was refused: %+v", name, m)
		}
		if strings.ContainsAny(m.Title+m.Excerpt+m.Author.Name, "\n\x00") || strings.HasPrefix(m.Author.URL, "javascript:") {
			s.problem("%s has an unsafe text: %+v", name, m)
		}
	}
	for key, n := range accepted {
		s.problem("%s does not have %s -> %s, which was accepted: %+v", name, key[0], key[1], n)
	}
	s.t.Logf("%s has %d mentions: %v", name, len(all), states)
}

var soakFigure = regexp.MustCompile(`(?m)^(go_goroutines|go_gc_heap_live_bytes|sitelink_mentions\{[^}]*\}) (\d+)$`)

// sample measures the process.
func (s *soak) sample(at time.Duration) soakSample {
	m := soakSample{at: at}
	client := http.Client{Timeout: soakPatience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + s.address + "/metrics")
	if err != nil {
		s.problem("metrics: %v", err)
		return m
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		s.problem("metrics: %s %v", resp.Status, err)
	}
	for _, f := range soakFigure.FindAllStringSubmatch(string(text), -1) {
		switch n, _ := strconv.ParseInt(f[2], 10, 64); f[1] {
		case "go_goroutines":
			m.goroutines = n
		case "go_gc_heap_live_bytes":
			m.heap = n
		default:
			m.mentions += n
		}
	}
	proc := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	files, _ := os.ReadDir(proc + "fd")
	m.files = int64(len(files))
	status, _ := os.ReadFile(proc + "status")
	if _, rest, ok := strings.Cut(string(status), "VmRSS:"); ok {
		m.rss, _ = strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		m.rss <<= 10
	}
	filepath.WalkDir(s.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		switch base := filepath.Base(name); {
		case base == soakFile:
			m.database = info.Size()
		case base == "log":
			m.log = info.Size()
		case strings.HasPrefix(base, "backup") || strings.Contains(name, "/data/"):
		default:
			m.rest += info.Size()
			m.directory++
		}
		return nil
	})
	return m
}

func (s *soak) keep(m soakSample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, m)
}

// quiet waits until nothing of the traffic is left: no goroutine, no descriptor.
// Connections of the database stay open. A short run does not wait for the last of the
// 32 workers. Each has some goroutines.
func (s *soak) quiet(before soakSample, duration time.Duration) {
	goroutines, files := before.goroutines+20, before.files+24 // the queue starts some later
	if duration < time.Minute {
		goroutines, files = goroutines+4*32, files+32
	}
	var after soakSample
	s.until(fmt.Sprintf("the receiver uses no more than before: %+v", before), func() bool {
		after = s.sample(0)
		return after.goroutines <= goroutines && after.files <= files
	})
	s.t.Logf("before: %+v", before)
	s.t.Logf("afterwards: %+v", after)
}

// stop ends the receiver by a signal.
func (s *soak) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(2 * soakPatience):
		s.t.Fatal("the receiver does not end")
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("the receiver ended with the exit code %d", code)
	}
}

// checkLog checks each line of the log: one event, no secret, no failure.
func (s *soak) checkLog() {
	f := testkit.Must(os.Open(filepath.Join(s.dir, "log")))(s.t)
	defer f.Close()
	lines, warnings := bufio.NewScanner(f), map[string]int{}
	lines.Buffer(nil, 1<<20)
	event := regexp.MustCompile(`^time=\S+ level=(DEBUG|INFO|WARN|ERROR) msg=("(?:[^"\\]|\\.)*"|\S+)`)
	for lines.Scan() {
		line := lines.Text()
		m := event.FindStringSubmatch(line)
		switch {
		case strings.Contains(line, soakSecret):
			s.problem("a secret is in the log: %.500s", line)
		case m == nil && !strings.HasPrefix(line, "sitelink:") && !strings.HasPrefix(line, "note: "):
			s.problem("not a line of the log: %.500s", line)
		case m != nil && m[1] == "ERROR":
			s.problem("%.500s", line)
		case m != nil && m[1] == "WARN":
			warnings[m[2]]++
		}
	}
	if err := lines.Err(); err != nil {
		s.t.Error(err)
	}
	s.t.Logf("warnings in the log: %v", warnings)
}

// through reports whether a notice of each protocol was accepted.
func (s *soak) through() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts["webmention good: 201"] > 0 && s.counts["pingback good: ok"] > 0 && s.counts["raw good: 200 Ok"] > 0 && s.counts["fields good: 202"] > 0
}

// report prints what was sent and answered, and what the process used.
func (s *soak) report() {
	for _, what := range slices.Sorted(maps.Keys(s.counts)) {
		s.t.Logf("%7d %s", s.counts[what], what)
	}
	step := max(1, len(s.samples)/30)
	for i := 0; i < len(s.samples); i += step {
		m := s.samples[i]
		s.t.Logf("%6v heap %5.1f MB, resident %5.1f MB, %3d goroutines, %3d descriptors, %6d mentions, database %5.1f MB, log %5.1f MB, rest %5.1f MB in %d files",
			m.at.Round(time.Second), mb(m.heap), mb(m.rss), m.goroutines, m.files, m.mentions, mb(m.database), mb(m.log), mb(m.rest), m.directory)
	}
	if !s.through() {
		s.t.Errorf("not every protocol got through")
	}
}

func mb(n int64) float64 { return float64(n) / (1 << 20) }

// checkGrowth compares what the process used from 1/6 to 1/3 of the run with the last
// sixth. Caches with a bound fill meanwhile: 16 MiB of pages at most.
func (s *soak) checkGrowth(duration time.Duration) {
	window := func(from, to time.Duration, get func(soakSample) int64) (middle, most int64) {
		var values []int64
		for _, m := range s.samples {
			if m.at >= from && m.at <= to {
				values = append(values, get(m))
			}
		}
		slices.Sort(values)
		return values[len(values)/2], values[len(values)-1]
	}
	for _, f := range []struct {
		name  string
		get   func(soakSample) int64
		slack int64 // beyond a tenth
	}{
		{"heap", func(m soakSample) int64 { return m.heap }, 8 << 20},
		{"resident memory", func(m soakSample) int64 { return m.rss }, 24 << 20},
		{"goroutines", func(m soakSample) int64 { return m.goroutines }, 20},
		{"descriptors", func(m soakSample) int64 { return m.files }, 20},
		{"files", func(m soakSample) int64 { return m.directory }, 0},
		{"bytes beside the database", func(m soakSample) int64 { return m.rest }, 16 << 20},
		{"bytes of the database per mention", func(m soakSample) int64 { return m.database / max(1, m.mentions) }, 100},
	} {
		early, earlyMost := window(duration/6, duration/3, f.get)
		late, lateMost := window(duration-duration/6, duration, f.get)
		s.t.Logf("%s: median %d, at most %d; at the end: median %d, at most %d", f.name, early, earlyMost, late, lateMost)
		if late > early+early/10+f.slack {
			s.t.Errorf("%s grew from %d to %d", f.name, early, late)
		}
	}
}
