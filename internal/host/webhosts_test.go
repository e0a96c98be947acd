package host

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/testkit"
)

// hostTable holds the answers of a host's software, one line per request; see
// the head of each file in testdata/hosts.
type hostTable struct {
	without string // what was left out of the docroot
	rows    []hostRow
}

type hostRow struct {
	request string // path and query
	status  int
	// location is where a redirect leads, path and query; in a table of last
	// answers it is the address that gave the answer, if it differs.
	location string
	// file answers a status of 200, "" for one without text.
	file string
}

func (r hostRow) String() string {
	switch {
	case r.location != "" && r.status != 0 && (r.status < 300 || r.status >= 400):
		return fmt.Sprintf("%d = %s at %s", r.status, r.file, r.location)
	case r.location != "":
		return "redirect to " + r.location
	case r.status == 200:
		return "200 = " + r.file
	}
	return fmt.Sprint(r.status)
}

func readHostTable(t *testing.T, name string) hostTable {
	t.Helper()
	var table hostTable
	for _, line := range testkit.Lines(t, filepath.Join("testdata", "hosts", name)) {
		if line[0] == '#' {
			if _, what, ok := strings.Cut(line, "docroot.txt without "); ok {
				table.without = strings.TrimSuffix(what, ":")
			}
			continue
		}
		request, answer, ok := strings.Cut(line, " -> ")
		r := hostRow{request: request}
		answer, r.location, _ = strings.Cut(answer, " at ")
		status, rest, _ := strings.Cut(answer, " ")
		if _, err := fmt.Sscan(status, &r.status); err != nil || !ok {
			t.Fatalf("%s: %q does not have a request and a status", name, line)
		}
		if file, ok := strings.CutPrefix(rest, "= "); ok {
			if file != "(empty)" {
				r.file = testkit.Unescape(t, file)
			}
		} else if rest != "" {
			r.location = rest
		}
		table.rows = append(table.rows, r)
	}
	if len(table.rows) < 1000 {
		t.Fatalf("%s has only %d answers", name, len(table.rows))
	}
	return table
}

// excuse selects rows where a profile differs from the software that was
// queried, and gives the reason.
type excuse struct {
	why string
	// fits reports whether the excuse covers the row and the prediction got.
	fits func(s *Host, row, got hostRow) bool
}

// TestWebHosts compares each profile with the answers of the host's own software:
// whether a request is redirected and where to, or else the status and the file
// of the answer.
func TestWebHosts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the docroot has names that other systems do not allow")
	}
	for _, h := range webHostTables {
		t.Run(h.table, func(t *testing.T) {
			table := readHostTable(t, h.table+".txt")
			s, err := Load(t.Context(), testkit.FromList(t, "testdata/hosts/docroot.txt", table.without), Options{Profile: h.profile()})
			testkit.Check(t, err)
			excused := make([]int, len(h.excuses))
			for _, row := range table.rows {
				if strings.Contains(row.request, "%00") {
					continue // refused everywhere, with different statuses
				}
				got := predict(s, row.request)
				if h.final {
					got = finally(s, row.request)
				}
				if h.final && sameEnd(row, got) || got.String() == row.String() || got.file == "" && row.file == "" && got.status == row.status && got.location == row.location {
					continue
				}
				i := slices.IndexFunc(h.excuses, func(e excuse) bool { return e.fits(s, row, got) })
				if i < 0 {
					t.Errorf("%s: got %v, the host says %v", row.request, got, row)
					continue
				}
				excused[i]++
			}
			for i, e := range h.excuses {
				if excused[i] == 0 {
					t.Errorf("no row needs the excuse %q", e.why)
				}
				t.Logf("%d of %d rows differ: %s", excused[i], len(table.rows), e.why)
			}
		})
	}
}

// finally returns the profile's answer after all redirects.
func finally(s *Host, request string) hostRow {
	at := request
	for range maxHops {
		if r := predict(s, at); r.location == "" {
			if at != request {
				r.location = at
			}
			r.request = request
			return r
		} else {
			at = r.location
		}
	}
	return hostRow{request: request, status: 508}
}

// sameEnd reports whether two final answers are the same: the status and, for a
// file that is sent its name and address, whatever escapes and query it has.
func sameEnd(a, b hostRow) bool {
	if a.status != 200 || b.status != 200 {
		return a.status == b.status
	}
	return a.file == b.file && plainAddress(a) == plainAddress(b)
}

func plainAddress(r hostRow) string {
	at := r.location
	if at == "" {
		at = r.request
	}
	at, _ = cutQuery(at)
	if p, err := url.PathUnescape(at); err == nil {
		at = p
	}
	return strings.ReplaceAll(at, "//", "/")
}

// predict returns the profile's answer to one request, without following a
// redirect.
func predict(s *Host, asked string) hostRow {
	p, query := cutQuery(asked)
	a := (&request{h: s, p: &s.profile}).respond(p, query)
	r := hostRow{request: asked, status: a.Status, location: a.location}
	if a.location == "" && a.Status == 200 && a.Node != docroot.NoNode && s.tree.Nodes[a.Node].Kind == docroot.KindFile {
		r.file = s.tree.Path(a.Node)
		if id := s.tree.Nodes[a.Node].Real; id != a.Node {
			r.file = s.tree.Path(id)
		}
		if name := path.Base(r.file); name == "empty.html" || name == "zero" {
			r.file = ""
		}
	}
	return r
}

// loadHost lists a docroot and returns its host.
func loadHost(t testing.TB, root string, opt Options) *Host {
	t.Helper()
	h, err := Load(t.Context(), root, opt)
	testkit.Check(t, err)
	return h
}
