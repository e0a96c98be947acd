package moderation

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/text"
)

// PageOptions configure a [Page].
type PageOptions struct {
	Store incoming.Store
	// Address is the URL of the page as browsers see it, such as
	// https://receiver.example/moderation. Browsers keep the session only with https,
	// or on the machine itself.
	Address string
	// Key, of at least 16 random bytes, is that of the links of [SignedLink].
	Key []byte
	// SaveRule, if set, keeps a rule outside of the store as well, as in a file of rules,
	// before the store gets it.
	SaveRule func(ctx context.Context, rule incoming.Rule) error
	// Now is the clock, time.Now by default.
	Now func() time.Time
	// Log gets each decision and each failure; nil means slog.Default().
	Log *slog.Logger
}

// Page is the web page for moderation, an http.Handler for its address and all paths
// below. It is safe for concurrent use.
type Page struct {
	opt    PageOptions
	path   string // of the address
	logins *logins
}

// NewPage returns the page. The error means that the address is not a URL, or that the key is
// too short.
func NewPage(o PageOptions) (*Page, error) {
	u, err := url.Parse(o.Address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return nil, fmt.Errorf("the address of the moderation page %q is not an http or https URL with a path", o.Address)
	}
	if len(o.Key) < minKey {
		return nil, fmt.Errorf("the key for login links has %d bytes, fewer than %d", len(o.Key), minKey)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return &Page{opt: o, path: strings.TrimSuffix(u.EscapedPath(), "/"), logins: newLogins(o.Now)}, nil
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string

	pageTemplate = sync.OnceValue(func() *template.Template {
		style := func() template.CSS { return template.CSS(styleCSS) }
		return template.Must(template.New("page").Funcs(template.FuncMap{"style": style}).Parse(pageHTML))
	})
	// policy allows the style, and forms to the site itself. Nothing else is loaded.
	policy = func() string {
		sum := sha256.Sum256([]byte(styleCSS))
		return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
	}()
)

// view is the data of the template.
type view struct {
	Title, Path, Status string
	Form                string // token of forms, if logged in
	Token               string // of the login link
	LoggedOut           bool
	Summary             string
	Mentions            []row
	// Page is the number of this page of the list. Previous and Next are those of the
	// pages beside it, 0 for none.
	Page, Previous, Next int64
}

// row is one held mention. N numbers the elements of the page.
type row struct {
	incoming.Mention
	N                      int
	Heading, Notice, Owner string
}

// maxForm is the size of a form that is read.
const maxForm = 8 << 10

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/'):]
	method := http.MethodPost
	if name != "/decide" && name != "/logout" && (name != "/login" || r.Method != http.MethodPost) {
		method = http.MethodGet
	}
	if r.Method != method && (r.Method != http.MethodHead || method != http.MethodGet) {
		h.Set("Allow", method)
		p.refuse(w, http.StatusMethodNotAllowed, "This address needs the method "+method+".")
		return
	}
	switch {
	case name == "/login" && method == http.MethodGet:
		p.show(w, http.StatusOK, view{Title: "Log in", Token: r.URL.Query().Get("token")})
	case name == "/login":
		p.login(w, r)
	default:
		session, ok := p.logins.session(r)
		if !ok {
			p.show(w, http.StatusUnauthorized, view{Title: "Moderation", LoggedOut: true})
			return
		}
		p.serveSession(w, r, name, session)
	}
}

func (p *Page) serveSession(w http.ResponseWriter, r *http.Request, name, session string) {
	form := formToken(session)
	if r.Method == http.MethodPost && !equal(r.PostFormValue("form"), form) {
		p.refuse(w, http.StatusForbidden, "The form is not from this page, or from before your login. Open the list again.")
		return
	}
	switch name {
	case "/logout":
		p.logins.has(session, true)
		p.setCookie(w, "", -1)
		p.show(w, http.StatusOK, view{Title: "Moderation", Status: "You are logged out.", LoggedOut: true})
	case "/decide":
		p.decide(w, r)
	default:
		p.list(w, r, form)
	}
}

func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	session, ok := p.logins.open(r.PostFormValue("token"), p.opt.Key)
	if !ok {
		p.opt.Log.Info("moderation: a login link was refused", "address", r.RemoteAddr)
		p.show(w, http.StatusForbidden, view{Title: "Log in", Status: "The login link was used before, or has expired.", LoggedOut: true})
		return
	}
	p.setCookie(w, session, int(sessionLife/time.Second))
	http.Redirect(w, r, p.path, http.StatusSeeOther)
}

func (p *Page) setCookie(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode})
}

// results are the messages after a decision, by their names in the address.
var results = map[string]string{
	"approve": "The mention is approved. The next export has it.",
	"author":  "The mention is approved, and so are those by its author that were held. The next export has them.",
	"change":  "The change is approved. The next export has it in the file advice.json.",
	"deny":    "The mention is denied.",
	"trust":   "The site is trusted. Its mentions are approved.",
	"block":   "The site is blocked. Its mentions are blocked.",
	"missing": "The mention no longer exists.",
	"changed": "The mention cannot be approved any more: its link is gone.",
}

func (p *Page) decide(w http.ResponseWriter, r *http.Request) {
	id, action := r.PostFormValue("id"), r.PostFormValue("action")
	result, err := p.apply(r.Context(), id, action)
	switch {
	case errors.Is(err, incoming.ErrNotFound):
		result = "missing"
	case err != nil:
		p.opt.Log.Error("moderation: a decision was not recorded", "id", id, "action", action, "error", err)
		p.refuse(w, http.StatusInternalServerError, "The decision was not recorded, because the store or the file of rules failed. Try again later.")
		return
	case result == "":
		p.refuse(w, http.StatusBadRequest, "The form has no known decision.")
		return
	}
	p.opt.Log.Info("moderation: decided", "id", id, "action", action, "result", result)
	to := p.path + "?done=" + result
	if n, err := strconv.ParseInt(r.PostFormValue("page"), 10, 64); err == nil && n > 1 {
		to += "&page=" + strconv.FormatInt(n, 10)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// apply carries out a decision and returns the name of its result, "" if there is no
// such decision.
func (p *Page) apply(ctx context.Context, id, action string) (result string, err error) {
	now := p.opt.Now()
	switch action {
	case "approve":
		m, more, err := Approve(ctx, p.opt.Store, id, now)
		switch {
		case errors.Is(err, ErrNotApproved):
			return "changed", nil
		case m.Action.Ours():
			return "change", err
		case more > 0:
			return "author", err
		}
		return action, err
	case "deny":
		_, err := Deny(ctx, p.opt.Store, id)
		return action, err
	case "trust", "block":
		m, err := p.opt.Store.Mention(ctx, id)
		if err != nil {
			return "", err
		}
		owner := incoming.Owner(m.Remote())
		if owner == "" {
			return "", nil
		}
		rule := incoming.Rule{Pattern: owner, Verdict: incoming.Verdict(action), Note: "decided on " + now.UTC().Format(time.DateOnly) + " on the moderation page"}
		if p.opt.SaveRule != nil {
			if err := p.opt.SaveRule(ctx, rule); err != nil {
				return "", err
			}
		}
		_, err = SetRule(ctx, p.opt.Store, rule, now)
		return action, err
	}
	return "", nil
}

// maxRows is how many mentions a page of the list shows.
const maxRows = 50

func (p *Page) list(w http.ResponseWriter, r *http.Request, form string) {
	v := view{Title: "Held mentions", Form: form, Status: results[r.URL.Query().Get("done")]}
	counts, err := p.opt.Store.Counts(r.Context())
	held := counts[incoming.Held]
	wanted, _ := strconv.ParseInt(r.URL.Query().Get("page"), 10, 64)
	v.Page = max(1, min(wanted, (held+maxRows-1)/maxRows)) // the last one may be gone
	first, n := (v.Page-1)*maxRows, int64(0)
	if err == nil {
		filter := incoming.Filter{States: []incoming.State{incoming.Held}, Limit: int(first + maxRows)}
		for m, listErr := range p.opt.Store.List(r.Context(), filter) {
			if err = listErr; err != nil {
				break
			}
			if n++; n > first {
				v.Mentions = append(v.Mentions, rowOf(m, len(v.Mentions)+1))
			}
		}
	}
	if err != nil {
		p.opt.Log.Error("moderation: the list cannot be read", "error", err)
		p.refuse(w, http.StatusInternalServerError, "The mentions cannot be read, because the store failed. Try again later.")
		return
	}
	held = max(held, n)
	if v.Previous = v.Page - 1; held > first+maxRows {
		v.Next = v.Page + 1
	}
	switch {
	case held == 0:
		v.Summary = "No mention waits for a decision."
	case held == 1:
		v.Summary = "1 mention waits for a decision."
	case held > int64(len(v.Mentions)):
		v.Summary = fmt.Sprintf("%d mentions wait for a decision. These are %d to %d.", held, first+1, n)
	default:
		v.Summary = fmt.Sprintf("%d mentions wait for a decision.", held)
	}
	p.show(w, http.StatusOK, v)
}

// languageTag matches what can be the value of a lang attribute, such as "de-CH".
var languageTag = text.Regexp(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

func rowOf(m incoming.Mention, n int) row {
	if !languageTag().MatchString(m.Lang) {
		m.Lang = ""
	}
	r := row{Mention: m, N: n, Heading: cmp.Or(oneLine(m.Title), m.Remote()), Owner: ownerName(m.Remote())}
	switch m.Action {
	case incoming.UnlinkR:
		r.Notice = "The page that ours links to is gone"
		if m.Replacement != "" {
			r.Notice += ", and moved to " + m.Replacement
		}
	case incoming.LinkMod:
		r.Notice = "The page that ours links to was modified"
	}
	return r
}

// ownerName returns the owner of a page for people.
func ownerName(address string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(incoming.Owner(address), "https://"), "/")
	return strings.ReplaceAll(name, "%40", "@")
}

// refuse shows a message instead of the list.
func (p *Page) refuse(w http.ResponseWriter, code int, message string) {
	p.show(w, code, view{Title: "Moderation", Status: message})
}

func (p *Page) show(w http.ResponseWriter, code int, v view) {
	v.Path = p.path
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, &v); err != nil {
		p.opt.Log.Error("moderation: the page cannot be written", "error", err)
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(b.Bytes())
}
