package remote

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
)

var day0 = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

func at(hours float64) time.Time { return day0.Add(time.Duration(hours * float64(time.Hour))) }

// brief writes a judgement as "verdict code strikes".
func brief(r Record) string {
	s := r.Verdict.String()
	if r.Code != "" {
		s += " " + string(r.Code)
	}
	return s + strings.Repeat("*", r.Strikes)
}

// Each row is a history of answers, hours apart, and what becomes of the record
// after each of them. A star is a strike.
func TestJudge(t *testing.T) {
	type step struct {
		hours float64
		a     Answer
		want  string
	}
	ok, missing := Answer{Status: 200}, Answer{Status: 404}
	fault := func(r Reason) Answer { return Answer{Fault: r} }
	status := func(n int) Answer { return Answer{Status: n} }
	twice := func(a Answer) []step {
		return []step{{0, a, "warning doubtful*"}, {20, a, "warning doubtful*"}, {21, a, "error dead-link**"}}
	}
	thrice := func(a Answer) []step {
		return []step{{0, a, "warning doubtful*"}, {1, a, "warning doubtful*"}, {24, a, "warning doubtful**"}, {48, a, "error dead-link***"}}
	}
	once := func(a Answer, want string) []step {
		return []step{{0, a, want}, {100, a, want}, {200, a, want}, {300, a, want}}
	}
	rows := map[string][]step{
		"200":                once(ok, "ok"),
		"204":                once(status(204), "ok"),
		"404":                twice(missing),
		"410":                twice(status(410)),
		"no such host":       twice(fault(NoSuchHost)),
		"DNS":                thrice(fault(DNS)),
		"500":                thrice(status(500)),
		"503":                thrice(status(503)),
		"530":                thrice(status(530)),
		"408":                thrice(status(408)),
		"time-out":           thrice(fault(Timeout)),
		"refused":            thrice(fault(Refused)),
		"reset":              thrice(fault(Reset)),
		"TLS":                thrice(fault(TLS)),
		"TLS expired":        thrice(fault(TLSExpired)),
		"TLS wrong host":     thrice(fault(TLSName)),
		"TLS unknown issuer": thrice(fault(TLSAuthority)),
		"garbage":            thrice(fault(Garbage)),
		"redirect loop":      thrice(fault(RedirectLoop)),
		"bad redirect":       thrice(fault(BadRedirect)),
		"400":                once(status(400), "warning doubtful"),
		"402":                once(status(402), "warning doubtful"),
		"405":                once(status(405), "warning doubtful"),
		"406":                once(status(406), "warning doubtful"),
		"418":                once(status(418), "warning doubtful"),
		"401":                once(status(401), "unchecked blocked"),
		"403":                once(status(403), "unchecked blocked"),
		"407":                once(status(407), "unchecked blocked"),
		"429":                once(status(429), "unchecked blocked"),
		"451":                once(status(451), "unchecked blocked"),
		"999":                once(status(999), "unchecked blocked"),
		"bot wall":           once(Answer{Status: 503, Fault: BotWall}, "unchecked blocked"),
		"private redirect":   once(fault(PrivateAddress), "unchecked blocked"),
		"other scheme":       once(fault(OtherScheme), "unchecked blocked"),
		"503, later":         once(Answer{Status: 503, RetryAfter: time.Hour}, "unchecked blocked"),
		"moved":              once(Answer{Status: 200, Hops: []Hop{{301, "https://a.example/b"}, {308, "https://a.example/c"}}}, "warning moved"),
		"moved, then found":  once(Answer{Status: 200, Hops: []Hop{{301, "https://a.example/b"}, {302, "https://a.example/c"}}}, "ok"),
		"found":              once(Answer{Status: 200, Hops: []Hop{{302, "https://a.example/b"}}}, "ok"),
		"moved, and missing": twice(Answer{Status: 404, Hops: []Hop{{301, "https://a.example/b"}}}),
		"a good answer resets": {
			{0, missing, "warning doubtful*"}, {24, ok, "ok"}, {48, missing, "warning doubtful*"}, {72, missing, "error dead-link**"}, {96, ok, "ok"},
		},
		"a blocked answer does not": {
			{0, missing, "warning doubtful*"}, {24, status(403), "unchecked blocked*"}, {48, missing, "error dead-link**"},
		},
		"an ill host is not gone": {
			{0, status(500), "warning doubtful*"}, {24, missing, "warning doubtful*"}, {48, missing, "error dead-link**"},
		},
		"a gone page is ill too": {
			{0, missing, "warning doubtful*"}, {24, status(500), "warning doubtful**"}, {48, status(500), "error dead-link***"},
		},
		"dead stays dead": {
			{0, missing, "warning doubtful*"}, {24, missing, "error dead-link**"}, {25, status(500), "error dead-link**"}, {48, status(500), "error dead-link***"},
		},
		"the clock goes back": {
			{100, missing, "warning doubtful*"}, {0, missing, "warning doubtful*"}, {1, missing, "warning doubtful*"}, {24, missing, "error dead-link**"},
		},
	}
	for name, steps := range rows {
		t.Run(name, func(t *testing.T) {
			r := Record{URL: "https://a.example/"}
			for i, s := range steps {
				r = Judge(r, s.a, at(s.hours), Policy{})
				if got := brief(r); got != s.want {
					t.Fatalf("answer %d: %s, want %s", i+1, got, s.want)
				}
			}
		})
	}
	for _, reason := range reasons {
		if _, ok := effects[reason]; !ok {
			t.Errorf("%s has no effect", reason)
		}
	}
}

func TestJudgeOptions(t *testing.T) {
	judge := func(a Answer, p Policy) string { return brief(Judge(Record{}, a, day0, p)) }
	for _, c := range []struct {
		got, want string
	}{
		{judge(Answer{Status: 404}, Policy{NewIsDead: true}), "error dead-link*"},
		{judge(Answer{Status: 410}, Policy{NewIsDead: true}), "error dead-link*"},
		{judge(Answer{Status: 500}, Policy{NewIsDead: true}), "warning doubtful*"},
		{judge(Answer{Fault: NoSuchHost}, Policy{NewIsDead: true}), "warning doubtful*"},
		{judge(Answer{Status: 500}, Policy{Strikes: 1}), "error dead-link*"},
		{judge(Answer{Status: 403}, Policy{Accept: []int{403}}), "ok"},
		{judge(Answer{Status: 403}, Policy{Missing: []int{403}}), "warning doubtful*"},
		{judge(Answer{Status: 403}, Policy{Missing: []int{403}, NewIsDead: true}), "error dead-link*"},
		{judge(Answer{Status: 404}, Policy{Blocked: []int{404}, NewIsDead: true}), "unchecked blocked"},
		{judge(Answer{Status: 200, Fault: Garbage}, Policy{Accept: []int{200}}), "warning doubtful*"},
		{brief(Judge(Record{Asked: day0}, Answer{Status: 404}, at(1), Policy{NewIsDead: true})), "warning doubtful*"},
		{brief(Judge(Judge(Record{}, Answer{Status: 404}, day0, Policy{}), Answer{Status: 404}, at(1), Policy{Interval: time.Hour})), "error dead-link**"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

// LL-105: a failure keeps the time of the first, and leaves what is known of the content.
func TestJudgeKeeps(t *testing.T) {
	r := Judge(Record{URL: "u"}, Answer{Status: 200, ETag: `"1"`, Looked: true, Present: []string{"a"}, Missing: []string{"b"}}, day0, Policy{})
	r = Judge(r, Answer{Status: 500}, at(24), Policy{})
	r = Judge(r, Answer{Status: 500}, at(48), Policy{})
	want := Record{URL: "u", Verdict: check.Warning, Code: check.Doubtful, Reason: ServerError, Status: 500, Strikes: 2,
		Since: at(24), Struck: at(48), Asked: at(48), Good: day0, ETag: `"1"`, Present: []string{"a"}, Missing: []string{"b"}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	r = Judge(r, Answer{Status: 304}, at(72), Policy{})
	if r.Status != 200 || r.ETag != `"1"` || !r.Changed.IsZero() || !r.Lacks("b") || r.Strikes != 0 {
		t.Errorf("after 304: %+v", r)
	}
	r = Judge(r, Answer{Status: 200, ETag: `"2"`}, at(96), Policy{})
	if r.ETag != `"2"` || r.Changed != at(96) || r.Lacks("b") {
		t.Errorf("after a change: %+v", r)
	}
}

// LL-98 to LL-102: content is compared by the first means that the host offers, without any setting.
func TestJudgeContent(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second Answer
		changed       bool
	}{
		{"same ETag", Answer{Status: 200, ETag: "1", LastModified: "x"}, Answer{Status: 200, ETag: "1", LastModified: "y"}, false},
		{"other ETag", Answer{Status: 200, ETag: "1", LastModified: "x"}, Answer{Status: 200, ETag: "2", LastModified: "x"}, true},
		{"LL-99: same Last-Modified", Answer{Status: 200, LastModified: "x"}, Answer{Status: 200, LastModified: "x", Hash: "h"}, false},
		{"LL-99: other Last-Modified", Answer{Status: 200, LastModified: "x"}, Answer{Status: 200, LastModified: "y"}, true},
		{"LL-100: 304", Answer{Status: 200, LastModified: "x"}, Answer{Status: 304}, false},
		{"LL-101: same hash", Answer{Status: 200, Hash: "h"}, Answer{Status: 200, Hash: "h"}, false},
		{"LL-101: other hash", Answer{Status: 200, Hash: "h"}, Answer{Status: 200, Hash: "i"}, true},
	} {
		r := Judge(Judge(Record{}, c.first, day0, Policy{}), c.second, at(1), Policy{})
		if changed := !r.Changed.IsZero(); changed != c.changed {
			t.Errorf("%s: changed %v, want %v", c.name, changed, c.changed)
		}
	}
}

func TestDue(t *testing.T) {
	for _, c := range []struct {
		name string
		a    Answer
		p    Policy
		now  time.Time
		want time.Time
	}{
		{"ok", Answer{Status: 200}, Policy{}, at(1), at(7*24 - 3)},
		{"doubtful", Answer{Status: 404}, Policy{}, at(1), at(21)},
		{"blocked", Answer{Status: 403}, Policy{}, at(1), at(7*24 - 3)},
		{"max age", Answer{Status: 200}, Policy{MaxAge: time.Hour}, at(1), at(0.875)},
		{"no age", Answer{Status: 200}, Policy{MaxAge: -1}, at(1), at(0)},
		{"Retry-After", Answer{Status: 429, RetryAfter: 3 * time.Hour}, Policy{MaxAge: -1}, at(1), at(3)},
		{"short Retry-After", Answer{Status: 429, RetryAfter: 30 * time.Second}, Policy{MaxAge: -1}, at(1), at(0)},
		{"the clock goes back", Answer{Status: 200}, Policy{}, at(-48), at(-48)},
	} {
		if r := Judge(Record{}, c.a, day0, c.p); !r.Due(c.now, c.p).Equal(c.want) {
			t.Errorf("%s: due %v, want %v", c.name, r.Due(c.now, c.p), c.want)
		}
	}
}
