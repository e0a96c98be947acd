package host

import (
	"net/http"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
)

// Answer is the host's answer to a request.
type Answer struct {
	State State
	// Node is the file (with [StateAutoindex] the directory) that answers, or
	// NoNode. For [StateWrongCase] it is the file that was meant.
	Node docroot.NodeID
	// Status is the final HTTP status, after the host's own redirects.
	Status int
	// Final is the percent-encoded path and query of the final request, below
	// the base path, or an absolute URL on another host. It is empty if the
	// host did not redirect.
	Final string
	// Note says which servers differ, for people; may be empty.
	Note string
	// Temporary means that a rule with a temporary status redirected.
	Temporary bool

	// location is the target, if the answer is a redirect.
	location string
	// byIndex: an entry with the name of an index file decided.
	byIndex bool
	// byErrorPage: the page for missing files answers a request for itself.
	byErrorPage bool
}

// Step is one step of an explanation: which rule decided, and what it did.
type Step struct {
	// Rule names a field of the profile ("directory"), a stage ("base") or a
	// rule file and line ("_redirects:12").
	Rule string
	Text string
}

// request is one request to the host, and the redirects that follow from it.
type request struct {
	h *Host
	p *Profile
	// path is the decoded path of the request.
	path string
	// rules are those of the host; nil for none.
	rules *redirect.Set
	// original is the target that was requested before any rewrite.
	original string
	// trace, when set, collects the steps.
	trace *[]Step
	// slash: the path names a directory. doubleSlash: it ends in two slashes.
	slash, doubleSlash bool
	// query is empty or begins with "?".
	query string
	// folded: a name matched only in other letter case.
	folded bool
}

// step traces a step, which the words tell.
func (q *request) step(rule string, words ...string) {
	if q.trace != nil {
		*q.trace = append(*q.trace, Step{rule, strings.Join(words, "")})
	}
}

// Flags of files and directories, in addition to those of package docroot.
const (
	// flagMoved: the host redirects a request for the file by its own name.
	flagMoved = docroot.FreeFlag << iota
	// flagAsk: only [Host.Resolve] knows what the host answers for the file or
	// directory. flagShut: and for everything below the directory.
	flagAsk
	flagShut
	// FreeFlag is the first flag that this package leaves to others.
	FreeFlag
)

// maxHops is how many redirects are followed; browsers follow as many.
const maxHops = 20

// AnswerRequest returns the host's answer for path, the percent-encoded path of
// a request below the base path, which begins with "/". query is empty or
// begins with "?".
func (h *Host) AnswerRequest(path, query string) Answer { return h.answer(path, query, nil) }

// answer is AnswerRequest with a trace of the steps.
func (h *Host) answer(path, query string, trace *[]Step) Answer {
	q := request{h: h, p: &h.profile, rules: h.rules, trace: trace}
	return q.follow(path, query)
}

// follow answers a request and follows the redirects.
func (q *request) follow(path, query string) Answer {
	a := q.respond(path, query)
	if a.location == "" {
		return a
	}
	state, note, temporary := a.State, a.Note, a.Temporary
	for range maxHops {
		to := a.location
		if !strings.HasPrefix(to, "/") {
			return Answer{State: StateRedirectsAway, Node: docroot.NoNode, Final: to, Note: note, Temporary: temporary}
		}
		if len(to) > redirect.MaxAddress {
			return Answer{State: StateRedirectLoop, Node: docroot.NoNode, Status: http.StatusRequestURITooLong, Note: tooLong(note)}
		}
		path, query = cutQuery(to)
		a = q.respond(path, query)
		temporary = temporary || a.Temporary
		if a.location == "" {
			a.Final, a.Temporary = to, temporary
			// The author of the link cares about how the first request was
			// answered.
			if a.State == StateOK {
				a.State = state
			}
			if a.Note == "" {
				a.Note = note
			}
			return a
		}
		if a.State == StateViaRedirect || a.State == StateServerDependent {
			state, note = a.State, a.Note // the author can fix this one; the host itself adds a final slash
		}
	}
	return Answer{State: StateRedirectLoop, Node: docroot.NoNode, Status: http.StatusLoopDetected, Final: a.location, Note: "more than 20 redirects"}
}

// tooLong says that an address grew too long, by a rule.
func tooLong(rule string) string {
	return rule + " makes an address longer than the 8 KiB that servers accept"
}

func cutQuery(url string) (path, query string) {
	path, _, _ = strings.Cut(url, "?")
	return path, url[len(path):]
}

// redirect returns the answer that sends the browser to path, which is decoded.
func (q *request) redirect(rule, path, query string) Answer {
	to := q.location(path, query)
	q.step(rule, "redirects to ", q.h.onHost(to))
	return Answer{State: StateRedirect, Node: docroot.NoNode, location: to}
}

// respond answers one request; location is set if the answer is a redirect.
func (q *request) respond(path, query string) Answer {
	if len(path)+len(query) > redirect.MaxAddress {
		return Answer{State: StateBadURL, Node: docroot.NoNode, Status: http.StatusRequestURITooLong, Note: "the URL is longer than the 8 KiB that servers accept"}
	}
	if q.h.opt.Crawled != nil {
		return q.crawled(path, query)
	}
	if q.rules == nil {
		return q.fallback(q.fromFiles(path, query))
	}
	if q.p.Rules == RulesVercel {
		// Its only redirects of its own, those of cleanUrls and trailingSlash, come
		// before the rules.
		quiet := request{h: q.h, p: q.p}
		if a := quiet.fromFiles(path, query); a.location != "" {
			return q.fromFiles(path, query)
		}
	}
	if a, ok := q.rule(path, query, redirect.BeforeFiles, 0); ok {
		return a
	}
	a := q.fromFiles(path, query)
	if isMissing(&a) && !a.byErrorPage {
		if ruled, ok := q.rule(path, query, redirect.AfterFiles, 0); ok {
			return ruled
		}
	}
	return q.fallback(a)
}

// isMissing reports whether no file answers, so that a rule may.
func isMissing(a *Answer) bool {
	switch a.State {
	case StateMissingFile, StateMissingDirectory, StateMissingIndex, StateWrongCase:
		return true
	}
	return false
}

// fallback lets the profile's fallback page answer for a missing path.
func (q *request) fallback(a Answer) Answer {
	p, t := q.p, q.h.tree
	id := t.Child(0, []byte(p.Fallback))
	if a.Status != http.StatusNotFound && a.State != StateMissingIndex || id == docroot.NoNode || t.Nodes[id].Kind != docroot.KindFile {
		return a
	}
	// A page for missing files in the directory of the path, or in one above it,
	// comes before the fallback.
	segments, slash, _ := splitPath(q.path, true)
	if !slash && len(segments) > 0 {
		segments = segments[:len(segments)-1]
	}
	for at := docroot.NodeID(0); p.FallbackUnless != "" && at != docroot.NoNode; {
		if t.Child(t.Nodes[at].Real, []byte(p.FallbackUnless)) != docroot.NoNode {
			return a
		}
		if len(segments) == 0 {
			break
		}
		at, segments = q.child(at, segments[0]), segments[1:]
	}
	q.step("fallback", "/", p.Fallback, " is the fallback page for missing files")
	if p.FallbackUnless != "" && q.h.severalPages {
		return Answer{State: StateHomePage, Node: id, Status: http.StatusOK}
	}
	return Answer{State: StateFallback, Node: id, Status: http.StatusOK}
}

// fromFiles answers from the files of the docroot.
func (q *request) fromFiles(path, query string) Answer {
	p, refused := q.decode(path)
	if refused != nil {
		q.path = decodeLenient(path)
		return *refused
	}
	q.path = p
	long := len(q.h.real)+len(p) > maxFilePath
	noFile := Answer{State: StateMissingFile, Node: docroot.NoNode, Status: http.StatusNotFound, Note: "the file's path is longer than 4,096 bytes, the limit of the system"}
	if long && !strings.Contains(p, "/.") && (q.p.Slashes == Merge || !strings.Contains(p, "//")) {
		return noFile // before it costs a split
	}
	segments, slash, above := splitPath(p, q.p.AboveRoot == 0)
	if above {
		return Answer{State: StateOutsideDocroot, Node: docroot.NoNode, Status: q.p.AboveRoot, Note: "nginx refuses such a path, while Caddy and lighttpd stop at the root"}
	}
	q.slash, q.doubleSlash, q.query = slash, strings.HasSuffix(p, "//"), query
	if strings.Contains(p, "//") || q.p.Slashes == Redirect && hasDots(p) {
		switch q.p.Slashes {
		case Keep:
			q.step("slashes", "the host looks for a file with an empty name, which cannot exist")
			return Answer{State: StateMissingFile, Node: docroot.NoNode, Status: http.StatusNotFound, Note: "the host does not merge repeated slashes"}
		case Redirect:
			to := "/" + strings.Join(segments, "/")
			if strings.HasSuffix(p, "/") && len(segments) > 0 {
				to += "/"
			}
			return q.redirect("slashes", to, query)
		}
	}
	if a, ok := q.rewritten(segments, slash, query); ok {
		return a
	}
	if long {
		return noFile
	}
	q.folded = false
	a := q.walk(segments, slash, query)
	if q.folded && (a.location != "" || a.State.Answers()) && a.State != StatePrivate {
		a.State, a.Note = StateServerDependent, "the host ignores the letter case of names, which most other hosts do not"
	}
	if q.p.Portable && (a.location != "" || a.State.Answers()) {
		q.warnPortable(&a, path, p, segments)
	}
	return a
}

// warnPortable adds a warning if nginx answers a request and one of the other
// three servers does not. TestPortable compares it with their answers.
func (q *request) warnPortable(a *Answer, path, decoded string, segments []string) {
	warn := func(note string) { a.State, a.Note = StateServerDependent, note }
	switch {
	case a.State == StatePrivate:
	case strings.Contains(decoded, "//"):
		a.State = StateDoubleSlash
	case strings.Contains(strings.ToLower(path), "%2f"):
		warn("nginx, Caddy and lighttpd accept an encoded slash, but Apache answers 404")
	case !q.slash && strings.HasPrefix(segments[len(segments)-1], ".ht"):
		warn("Apache answers 403 to names that begin with .ht")
	case a.State == StateRedirect && strings.ContainsAny(decoded, "?#%\\\t\r\n"):
		warn(`Caddy drops an encoded ?, #, %, \ or line break when it redirects to add the final slash`)
	}
}
