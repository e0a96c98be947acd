package remote

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestAskSockets: connections that wait for a next request give way when a process runs
// out of descriptors, and the cache can be written at the end. The limit is that of a
// process of its own, and the servers are in this one.
func TestAskSockets(t *testing.T) {
	const variable, hosts = "SITELINK_TEST_SOCKETS", 60
	if text := os.Getenv(variable); text != "" {
		askWithFewSockets(t, strings.Fields(text))
		return
	}
	p := newPages(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestAskSockets$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"="+strings.Join(p.urls(2*hosts, hosts), " "))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestAskSockets") {
		t.Errorf("%v\n%s", err, out)
	}
	if n := p.connections.Load(); n < hosts {
		t.Errorf("%d connections to %d hosts", n, hosts)
	}
}

func askWithFewSockets(t *testing.T, urls []string) {
	name := filepath.Join(t.TempDir(), "status.jsonl")
	c, lines := openCache(t, name)
	open := testkit.Must(os.ReadDir("/proc/self/fd"))(t)
	var limit syscall.Rlimit
	testkit.Check(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	limit.Cur = uint64(len(open)) + 12
	testkit.Check(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	opt := quick()
	opt.Concurrency = 4
	report := ask(t, c, opt, links(urls...))
	if report.Starved != 0 || report.Requests < len(urls) {
		t.Errorf("%d requests for %d URLs, %d starved", report.Requests, len(urls), report.Starved)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for _, u := range urls {
		if r := c.Get(u); brief(r) != "ok" {
			t.Fatalf("%s: %s %s", u, brief(r), r.Reason)
		}
	}
	if len(*lines) > 0 {
		t.Errorf("warnings: %q", *lines)
	}
}
