//go:build unix

package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"

	"github.com/sitelink/sitelink/incoming"
)

// The environment of a child: the address of its store, the file for the beginnings
// of verifications, the number of its first notice if it records any, and how long a
// verification takes.
const (
	childAddress = "SITELINK_TEST_STORE"
	childLog     = "SITELINK_TEST_STORE_LOG"
	childFirst   = "SITELINK_TEST_STORE_FIRST"
	childTime    = "SITELINK_TEST_STORE_TIME"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(childAddress); address != "" {
		if err := child(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child records notices and verifies mentions until it is killed. It prints the
// number of each notice that is answered.
func child(address string) error {
	ctx := context.Background()
	s, err := Open(ctx, address, Options{Worker: true})
	if err != nil {
		return err
	}
	log, err := os.OpenFile(os.Getenv(childLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	s.tick = 100 * time.Millisecond
	failed := make(chan error, 20)
	takes, err := time.ParseDuration(os.Getenv(childTime))
	if err != nil {
		return err
	}
	go func() { failed <- s.Work(ctx, logged(log, takes)) }()
	if first, err := strconv.Atoi(os.Getenv(childFirst)); err == nil {
		next := atomic.Int64{}
		next.Store(int64(first))
		var mu sync.Mutex
		for range 8 {
			go func() {
				for {
					n := int(next.Add(1)) - 1
					key, m := notice(n, "https://our.example/")
					m.Received, m.Due = time.Now(), time.Now()
					if err := s.Record(ctx, []incoming.Key{key}, func([]*incoming.Mention) ([]*incoming.Mention, error) { return []*incoming.Mention{m}, nil }); err != nil {
						failed <- err
						return
					}
					mu.Lock()
					fmt.Println(n)
					mu.Unlock()
				}
			}()
		}
	} else {
		fmt.Println("ready")
	}
	return <-failed
}

// logged returns a function that verifies a mention in this time at most, and
// writes when it began.
func logged(log *os.File, takes time.Duration) func(context.Context, incoming.Mention) (func(*incoming.Mention), error) {
	return func(ctx context.Context, m incoming.Mention) (func(*incoming.Mention), error) {
		if _, err := fmt.Fprintf(log, "%s %d\n", m.Source, time.Now().UnixNano()); err != nil {
			return nil, err
		}
		time.Sleep(rand.N(takes))
		return func(m *incoming.Mention) { m.State = incoming.Held }, nil
	}
}

// process is a child that runs.
type process struct {
	cmd      *exec.Cmd
	answered chan []int
	count    atomic.Int64
}

func startChild(t *testing.T, address, log, first, takes string) *process {
	t.Helper()
	self := testkit.Must(os.Executable())(t)
	p := &process{cmd: exec.Command(self), answered: make(chan []int, 1)}
	p.cmd.Env = append(os.Environ(), childAddress+"="+address, childLog+"="+log, childFirst+"="+first, childTime+"="+takes)
	p.cmd.Stderr = t.Output()
	out := testkit.Must(p.cmd.StdoutPipe())(t)
	testkit.Check(t, p.cmd.Start())
	t.Cleanup(func() { p.cmd.Process.Kill() })
	go func() {
		var all []int
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				all = append(all, n)
			}
			p.count.Add(1)
		}
		p.answered <- all
	}()
	return p
}

// kill kills the process, and returns the notices that it has answered and the time
// before and after its end.
func (p *process) kill() (answered []int, end interval) {
	end.from = time.Now()
	p.cmd.Process.Kill()
	answered = <-p.answered
	p.cmd.Wait()
	end.to = time.Now()
	return answered, end
}

// interval is a time that is not known better.
type interval struct{ from, to time.Time }

// begun reads when each source was looked at.
func begun(t *testing.T, log string) map[string][]time.Time {
	t.Helper()
	data := testkit.Read(t, log)
	all := map[string][]time.Time{}
	for line := range strings.Lines(string(data)) {
		source, at, ok := strings.Cut(strings.TrimSpace(line), " ")
		nano, err := strconv.ParseInt(at, 10, 64)
		if ok && err == nil {
			all[source] = append(all[source], time.Unix(0, nano))
		}
	}
	return all
}

// checkOnce checks that a look was repeated only if it began in the second before a
// kill.
func checkOnce(t *testing.T, log string, kills []interval) {
	t.Helper()
	repeated := 0
	for source, times := range begun(t, log) {
		for _, at := range times[:len(times)-1] {
			repeated++
			before := time.Hour // the next kill
			for _, kill := range kills {
				if !at.After(kill.to) {
					before = min(before, kill.from.Sub(at))
				}
			}
			if before > time.Second {
				t.Errorf("%s was looked at again, although the look began %v before a kill", source, before)
			}
		}
	}
	t.Logf("%d sources, %d looks repeated, %d kills", len(begun(t, log)), repeated, len(kills))
}

// killRuns returns how many times the processes are killed: SITELINK_KILL_RUNS, or few.
func killRuns() int {
	if n, err := strconv.Atoi(os.Getenv("SITELINK_KILL_RUNS")); err == nil {
		return n
	}
	return 3
}

// Every answered notice is there after a kill, and is verified once.
func TestKilled(t *testing.T) {
	testkit.Long(t)
	dir := t.TempDir()
	killed(t, filepath.Join(dir, "m.db"), filepath.Join(dir, "log"))
}

func killed(t *testing.T, address, log string) {
	answered := map[string]bool{}
	var kills []interval
	for run := range killRuns() {
		p := startChild(t, address, log, strconv.Itoa(run*1_000_000), "20ms")
		wait(t, "for some answers", func() bool { return p.count.Load() > 20 })
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		all, end := p.kill()
		kills = append(kills, end)
		for _, n := range all {
			key, _ := notice(n, "https://our.example/")
			answered[key.Source] = true
		}
	}
	s := fileOpener(address)(t, Options{Worker: true, Log: testLog(t)})
	testkit.Check(t, func() error {
		for m, err := range s.List(t.Context(), incoming.Filter{}) {
			if err != nil {
				return err
			}
			delete(answered, m.Source)
		}
		return nil
	}())
	if len(answered) > 0 {
		t.Errorf("%d answered notices are lost", len(answered))
	}
	file := testkit.Must(os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0))(t)
	defer file.Close()
	stop := working(t, s, logged(file, 20*time.Millisecond))
	wait(t, "for the verification", func() bool {
		counts := testkit.Must(s.Counts(t.Context()))(t)
		return counts[incoming.Queued] == 0
	})
	stop()
	checkOnce(t, log, kills)
}
