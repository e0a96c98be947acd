package testkit

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// HostAnswer is a server's answer to a request, after its own redirects.
type HostAnswer struct {
	First  int    // status of the first answer; 0 without an answer
	Status int    // status of the last answer
	Final  string // path and query of the last request, or an absolute URL on another host
}

// HostTable has the answers of several servers to the same requests.
type HostTable struct {
	// About gives the origin of the answers, one line per server.
	About   []string
	Servers []string
	Rows    []HostRow
}

// HostRow is one request and, in the order of [HostTable.Servers], its answers.
type HostRow struct {
	Key     string // by [HostKey]
	Answers []HostAnswer
}

// Format returns the table as lines of text with a tab between the cells. A cell is
// the status, or "first>last final" if there was a redirect.
func (t *HostTable) Format() []byte {
	var b bytes.Buffer
	for _, line := range t.About {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	fmt.Fprintf(&b, "request\t%s\n", strings.Join(t.Servers, "\t"))
	for _, r := range t.Rows {
		b.WriteString(r.Key)
		for _, a := range r.Answers {
			b.WriteByte('\t')
			if a.First != a.Status || a.Final != r.Key {
				fmt.Fprintf(&b, "%d>%d %s", a.First, a.Status, a.Final)
			} else {
				fmt.Fprint(&b, a.Status)
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// ParseHostTable parses the result of [HostTable.Format]. Errors name the line.
func ParseHostTable(text []byte) (*HostTable, error) {
	t := new(HostTable)
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if about, ok := strings.CutPrefix(line, "# "); ok && t.Servers == nil {
			t.About = append(t.About, about)
			continue
		}
		cells := strings.Split(line, "\t")
		if t.Servers == nil {
			t.Servers = cells[1:]
			continue
		}
		if len(cells) != 1+len(t.Servers) {
			return nil, fmt.Errorf("line %d: %d cells, want %d", i+1, len(cells), 1+len(t.Servers))
		}
		r := HostRow{Key: cells[0]}
		for _, cell := range cells[1:] {
			a, err := parseAnswer(cell, r.Key)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			r.Answers = append(r.Answers, a)
		}
		t.Rows = append(t.Rows, r)
	}
	if len(t.Servers) == 0 || len(t.Rows) == 0 {
		return nil, fmt.Errorf("the table has no answers")
	}
	return t, nil
}

func parseAnswer(cell, request string) (a HostAnswer, err error) {
	numbers, final, moved := strings.Cut(cell, " ")
	first, last, two := strings.Cut(numbers, ">")
	if a.First, err = strconv.Atoi(first); err != nil {
		return a, fmt.Errorf("answer %q: %w", cell, err)
	}
	a.Status, a.Final = a.First, request
	if two != moved {
		return a, fmt.Errorf("answer %q: a redirect has two numbers and a final request", cell)
	}
	if two {
		a.Final = final
		if a.Status, err = strconv.Atoi(last); err != nil {
			return a, fmt.Errorf("answer %q: %w", cell, err)
		}
	}
	return a, nil
}

// Of returns the answers of one server, by the key of the request; nil if the
// table has no such server.
func (t *HostTable) Of(server string) map[string]HostAnswer {
	i := slices.Index(t.Servers, server)
	if i < 0 {
		return nil
	}
	answers := make(map[string]HostAnswer, len(t.Rows))
	for _, r := range t.Rows {
		answers[r.Key] = r.Answers[i]
	}
	return answers
}

// HostPeculiar reports whether a server answers a request in a way that no profile has:
// lighttpd refuses control characters and bytes that never occur in UTF-8, Caddy
// redirects encoded dot segments, and servers differ about directories that they may only
// enter or only list.
func HostPeculiar(server, request string) bool {
	return server == "lighttpd" && refusedByLighttpd.MatchString(request) || server == "caddy" && dotSegment.MatchString(request) ||
		strings.Contains(request, "no-list") || strings.Contains(request, "no-search")
}

// HostAgrees reports whether a prediction has what matters of a server's answer: whether a
// file answers, and which. Servers refuse a request with different statuses, and write
// the same address of a redirect with different escapes. See [HostPeculiar] for the exceptions.
func HostAgrees(server, request string, predicted, answered HostAnswer) bool {
	if HostPeculiar(server, request) {
		return true
	}
	good := func(a HostAnswer) bool { return a.Status >= 200 && a.Status < 300 }
	if !good(answered) {
		return !good(predicted)
	}
	return good(predicted) && sameAddress(predicted.Final, answered.Final)
}

var (
	refusedByLighttpd = regexp.MustCompile(`(?i)%([01][0-9a-f]|7f|c[01]|f[5-9a-f])`)
	// dotSegment matches a dot segment that is not one for browsers.
	dotSegment = regexp.MustCompile(`(?i)(%2f\.\.?|/\.\.?%2f)`)
)

func sameAddress(a, b string) bool {
	decoded := func(s string) string {
		path, query, _ := strings.Cut(s, "?")
		if p, err := url.PathUnescape(path); err == nil {
			path = p
		}
		if q, err := url.PathUnescape(query); err == nil {
			query = q
		}
		return path + "?" + query
	}
	return decoded(a) == decoded(b)
}
