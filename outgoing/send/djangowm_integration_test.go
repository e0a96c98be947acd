//go:build integration && linux

package send

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// received is a notice as django-wm stored it.
type received struct {
	Mentions []struct {
		Source    string `json:"source_url"`
		Target    string `json:"target_url"`
		Validated bool   `json:"validated"`
	} `json:"mentions"`
	Waiting int `json:"waiting"`
}

// TestDjangoWM sends to django-wm, an independent receiver: a new link, an update,
// a removed link, and a deleted page. django-wm also passes the cases for receivers
// of webmention.rocks.
func TestDjangoWM(t *testing.T) {
	python := os.Getenv("SITELINK_DJANGOWM")
	if python == "" {
		t.Skip("SITELINK_DJANGOWM is not set: it names a Python that has django-wm")
	}
	_, port, _ := net.SplitHostPort(testkit.FreePort(t))
	env := append(os.Environ(), "PORT="+port, "DATABASE="+path.Join(t.TempDir(), "db"), "PYTHONDONTWRITEBYTECODE=1")
	manage := func(arguments ...string) *exec.Cmd {
		command := exec.Command(python, append([]string{"testdata/djangowm/manage.py"}, arguments...)...)
		command.Env = env
		return command
	}
	testkit.Run(t, manage("migrate", "--verbosity", "0"))
	server := manage("runserver", "--noreload", "127.0.0.1:"+port)
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testkit.Check(t, server.Start())
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	site := "http://localhost:" + port
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(site + "/article/")
		if err == nil {
			resp.Body.Close()
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatal(err)
		}
	}
	work := func() (r received) {
		t.Helper()
		resp := testkit.Must(http.Get(site + "/work/"))(t)
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
			t.Fatalf("%s: %v", resp.Status, err)
		}
		return r
	}
	accepted := func(source *page, target string, event ledger.Event) {
		t.Helper()
		o := notify(t, source.url, target, event)
		t.Logf("%-8s %d %s %q", event, o.Status, o.State, o.Message)
		if o.State != ledger.Accepted || o.Status != 202 || o.Endpoint != site+"/webmention/" {
			t.Errorf("%+v", o)
		}
	}

	// The URL of the target has a query with an ampersand.
	target := site + "/article/?a=1&b=2"
	source := newPage(t)
	source.set(200)
	source.text = `<!DOCTYPE html><a href="` + site + `/article/?a=1&amp;b=2"></a>`
	accepted(source, target, ledger.Added)
	r := work()
	if len(r.Mentions) != 1 || r.Mentions[0].Source != source.url || r.Mentions[0].Target != target || !r.Mentions[0].Validated {
		t.Fatalf("after the first notice: %+v", r)
	}
	source.text += "more"
	accepted(source, target, ledger.Updated)
	if r = work(); len(r.Mentions) == 0 || !r.Mentions[len(r.Mentions)-1].Validated {
		t.Errorf("after an update: %+v", r)
	}
	source.text = "<!DOCTYPE html><p>no link"
	accepted(source, target, ledger.Removed)
	if r = work(); r.Mentions[len(r.Mentions)-1].Validated {
		t.Errorf("after the link was removed: %+v", r)
	}
	source.set(410)
	accepted(source, target, ledger.Deleted)
	if r = work(); r.Waiting != 1 {
		t.Errorf("after the page was deleted: %+v", r)
	}

	source.set(200, target)
	if err := receiverCases(site+"/webmention/", source.url, target); err != nil {
		t.Error(err)
	}
	if o := notify(t, "no address", target, ledger.Added); o.State != ledger.Permanent || o.Status != 400 {
		t.Errorf("refused source: %+v", o)
	}
}

// receiverCases checks a receiver against the two cases of the suite. endpoint is
// its URL, target a page that it accepts notices for, and source a page that
// links to target.
//
// Case 1: the response to a valid pair is 200, 201 or 202, with a Location only if
// it is 201. Case 2: the response to pairs in which the source, the target or both
// are not URLs is 400.
func receiverCases(endpoint, source, target string) error {
	resp, err := http.PostForm(endpoint, url.Values{"source": {source}, "target": {target}})
	if err != nil {
		return err
	}
	resp.Body.Close()
	location := resp.Header.Get("Location")
	switch resp.StatusCode {
	case http.StatusCreated:
		if location == "" {
			return fmt.Errorf("receive 1: 201 without Location")
		}
	case http.StatusOK, http.StatusAccepted:
		if location != "" {
			return fmt.Errorf("receive 1: %s with Location", resp.Status)
		}
	default:
		return fmt.Errorf("receive 1: %s", resp.Status)
	}
	const junk = "no address"
	for _, pair := range [][2]string{{junk, target}, {source, junk}, {junk, junk}} {
		resp, err := http.PostForm(endpoint, url.Values{"source": {pair[0]}, "target": {pair[1]}})
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			return fmt.Errorf("receive 2: %s for source %q and target %q", resp.Status, pair[0], pair[1])
		}
	}
	return nil
}
