// Package live compares what the host of a published site answers with what sitelink predicts
// from the docroot, the redirect rules and the profile of the host.
package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/weburl"
)

// AddressKind is the reason why an address is asked for.
type AddressKind string

// The kinds of addresses.
const (
	File   AddressKind = "file"   // a file of the docroot
	Rule   AddressKind = "rule"   // a redirect rule names it
	Form   AddressKind = "form"   // another form of a page's address, such as /a/index.html of /a/
	Absent AddressKind = "absent" // no file and no rule answers it
)

// Answer is what the host answers to an address in the end, after its redirects.
type Answer struct {
	Status int `json:"status"`
	// Final is the address that answers: below the site's host without scheme and host.
	Final string `json:"final"`
	// Type is the Content-Type of a file that browsers do not take for what it is, and Differs
	// says how the bytes differ from those of the file. Both are "" where all is as it should be.
	Type    string `json:"type,omitempty"`
	Differs string `json:"differs,omitempty"`
}

// Observation is an address with what was predicted and what the host answered.
type Observation struct {
	Address   string      `json:"address"` // path and query
	Kind      AddressKind `json:"kind"`
	Predicted Answer      `json:"predicted"`
	Answered  Answer      `json:"answered"`
	server    string      // the Server field
}

// Differs reports whether the answer is not the predicted one. What another site answers is not
// predicted, nor the address of an error page.
func (o *Observation) Differs() bool { return !o.Predicted.equals(o.Answered) }

// Options configure [Verify].
type Options struct {
	Client *fetch.Client
	// After is an address of an earlier run: those up to it are left out.
	After string
	// Progress is called after each answer. It may be nil.
	Progress func(done, total int)
}

const (
	absentAddresses = 50
	formPages       = 10      // pages, and as many index files, that are asked in other forms, too
	maxWhole        = 1 << 20 // bytes of a file that are compared
	maxHops         = 10
	longestWait     = time.Minute // for a host that asks to wait
)

// Verify asks the host for addresses, one at a time and in their order: each file of the
// docroot, each address that a redirect rule names in full, other forms of the addresses of
// 20 pages, and up to 50 addresses that must not exist. The error says why it could not ask
// for all.
func Verify(ctx context.Context, h *host.Host, opt Options) (seen []Observation, err error) {
	dir, err := docroot.Open(h.Real())
	if err != nil {
		return nil, docroot.FileError(err)
	}
	defer dir.Close()
	questions := questionsOf(h)
	questions = slices.DeleteFunc(questions, func(q question) bool { return q.address <= opt.After })
	for _, q := range questions {
		o := Observation{Address: q.address, Kind: q.kind, Predicted: q.want}
		if err := q.ask(ctx, h, dir, opt.Client, &o); err != nil {
			return seen, err
		}
		seen = append(seen, o)
		if opt.Progress != nil {
			opt.Progress(len(seen), len(questions))
		}
	}
	return seen, nil
}

func (a Answer) equals(got Answer) bool {
	if got.Type != "" || got.Differs != "" || a.Status != got.Status {
		return false
	}
	decoded := func(address string) string { return string(weburl.PercentDecode(nil, address)) } // servers escape in several ways
	return a.Status >= http.StatusBadRequest || decoded(a.Final) == decoded(got.Final)
}

// question is an address with what is predicted for it.
type question struct {
	address string
	kind    AddressKind
	file    docroot.NodeID // that answers, for File; else NoNode
	want    Answer
}

// questionsOf returns all questions, sorted by their addresses, without repetition.
func questionsOf(h *host.Host) (all []question) {
	t := h.Tree()
	absent, forms := 0, map[bool]int{}
	add := func(address string, kind AddressKind, file docroot.NodeID) {
		want, node, ok := predict(h, address)
		if node != file { // a rule leads elsewhere, so the bytes are not those of the file
			file = docroot.NoNode
		}
		if ok {
			all = append(all, question{address, kind, file, want})
		}
	}
	for _, id := range t.SortedFiles() {
		address := h.Href(id)
		add(address, File, id)
		// Hosts differ in the other forms of addresses, not from page to page.
		name, isPage := strings.CutSuffix("/"+t.Path(id), ".html")
		stem, isIndex := strings.CutSuffix(name, "/index")
		if isPage && stem != "" && forms[isIndex] < formPages {
			forms[isIndex]++
			for _, form := range []string{name + ".html", name, stem, stem + "/", strings.ToUpper(stem)} {
				add(h.BasePath()+(&url.URL{Path: form}).EscapedPath(), Form, docroot.NoNode)
			}
		}
		if missing := address + "-sitelink-absent"; absent < absentAddresses {
			if r, err := h.Request(missing); err == nil && !r.State.Answers() {
				absent++
				add(missing, Absent, docroot.NoNode)
			}
		}
	}
	for _, p := range h.RulePaths() {
		add(h.BasePath()+(&url.URL{Path: p}).EscapedPath(), Rule, docroot.NoNode)
	}
	slices.SortStableFunc(all, func(a, b question) int { return strings.Compare(a.address, b.address) })
	return slices.CompactFunc(all, func(a, b question) bool { return a.address == b.address })
}

// predict returns what a host answers to an address, and the file that does; false if a server
// behind it answers.
func predict(h *host.Host, address string) (Answer, docroot.NodeID, bool) {
	r, err := h.Request(address)
	if err != nil || r.State == host.StateProxied {
		return Answer{}, docroot.NoNode, false
	}
	a := Answer{Status: r.Status, Final: cmp.Or(r.Final, address)}
	if a.Status == 0 && r.State.Answers() {
		a.Status = http.StatusOK
	}
	if a.Status/100 == 3 || strings.Contains(a.Final, "://") { // another site answers
		a.Status = 0
	}
	a.Final, _, _ = strings.Cut(a.Final, "#")
	return a, r.Node, true
}

// ask sets what the host answers. It follows redirects on the host, and no others.
func (q *question) ask(ctx context.Context, h *host.Host, dir *docroot.Dir, client *fetch.Client, o *Observation) error {
	origin, _ := h.Public(q.address)
	at, waited := q.address, false
	for hops := 0; ; {
		resp, err := client.Do(ctx, fetch.Request{URL: origin + at, NoRedirect: true, Header: http.Header{"Accept-Encoding": {"identity"}}, MaxBody: maxWhole + 1})
		wait, again := time.Second, false // for a second try
		if failed := (*fetch.Error)(nil); errors.As(err, &failed) {
			again = failed.Kind.Retry()
		} else if resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusServiceUnavailable {
			wait, again = fetch.RetryAfter(resp.Header, time.Now())
		}
		if again && !waited && wait <= longestWait {
			waited = true
			select {
			case <-time.After(wait):
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err != nil {
			return err
		}
		o.Answered, o.server = Answer{Status: resp.Status, Final: at}, resp.Header.Get("Server")
		a := &o.Answered
		if location := resp.Header.Get("Location"); resp.Status/100 == 3 && location != "" {
			base, err := weburl.Parse(origin + at)
			if err != nil {
				return nil
			}
			to, err := base.Resolve(location)
			if err != nil {
				return nil
			}
			a.Final, _, _ = strings.Cut(to.String(), "#")
			path, own := strings.CutPrefix(a.Final, origin)
			if own = own && strings.HasPrefix(path, "/"); !own {
				a.Status = 0 // another site answers
				return nil
			}
			if a.Final = path; hops == maxHops {
				return nil
			}
			at, hops = path, hops+1
			continue
		}
		if a.Status == http.StatusOK && q.file != docroot.NoNode && q.want.Status == http.StatusOK {
			q.compare(h, dir, resp, a)
		}
		return nil
	}
}

// compare sets what is not as it should be of the content of a file.
func (q *question) compare(h *host.Host, dir *docroot.Dir, resp *fetch.Response, a *Answer) {
	name := h.Tree().Path(q.file)
	given, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if types := typesOf[path.Ext(name)]; len(types) > 0 && !slices.Contains(types, given) {
		a.Type = cmp.Or(given, "no Content-Type")
	}
	own, err := dir.Head(name, nil, maxWhole+1)
	if err != nil || bytes.Equal(own, resp.Body) {
		return
	}
	// Where both begin and end alike, something was put in between.
	start := 0
	for start < min(len(own), len(resp.Body)) && own[start] == resp.Body[start] {
		start++
	}
	end := 0
	for end < min(len(own), len(resp.Body))-start && own[len(own)-1-end] == resp.Body[len(resp.Body)-1-end] {
		end++
	}
	switch cached := cmp.Or(resp.Header.Get("CF-Cache-Status"), resp.Header.Get("X-Cache"), resp.Header.Get("Age")); {
	case start+end == len(own) && len(own) > 0:
		a.Differs = inserted
	case cached != "" && cached != "0" && !strings.Contains(strings.ToUpper(cached), "MISS"):
		a.Differs = cachedBytes
	default:
		a.Differs = otherBytes
	}
}

// How the bytes of an answer differ from those of a file.
const (
	inserted    = "the host adds to the file"
	cachedBytes = "other bytes, from a cache"
	otherBytes  = "other bytes"
)

// typesOf are the types with which browsers use files as what they are. Others do not matter, or
// browsers look at the file.
var typesOf = map[string][]string{
	".html": {"text/html", "application/xhtml+xml"},
	".htm":  {"text/html", "application/xhtml+xml"},
	".css":  {"text/css"},
	".svg":  {"image/svg+xml"},
	".js":   {"text/javascript", "application/javascript", "application/x-javascript"},
	".mjs":  {"text/javascript", "application/javascript", "application/x-javascript"},
}
