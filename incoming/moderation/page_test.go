package moderation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
)

const address = "https://receiver.example/moderation"

// world is a page with a store and a clock.
type world struct {
	t     *testing.T
	page  *Page
	store *incomingtest.Store
	now   time.Time
}

var key = strings.Repeat("k", minKey)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, store: incomingtest.NewStore(nil), now: time.Unix(1700000000, 0)}
	var err error
	w.page, err = NewPage(PageOptions{Store: w.store, Address: address, Key: []byte(key), Now: func() time.Time { return w.now }, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	testkit.Check(t, err)
	return w
}

func (w *world) do(method, path, session string, form url.Values) *http.Response {
	r := httptest.NewRequest(method, "https://receiver.example"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if session != "" {
		r.AddCookie(&http.Cookie{Name: cookie, Value: session})
	}
	rec := httptest.NewRecorder()
	w.page.ServeHTTP(rec, r)
	return rec.Result()
}

func body(r *http.Response) string {
	text, _ := io.ReadAll(r.Body)
	return string(text)
}

// tokenOf returns the token of a login link.
func tokenOf(t *testing.T, link string, err error) string {
	t.Helper()
	u, parseErr := url.Parse(link)
	if err != nil || parseErr != nil || !strings.HasPrefix(link, address+"/login?token=") {
		t.Fatal(link, err, parseErr)
	}
	return u.Query().Get("token")
}

// login logs in and returns the session and the token of its forms.
func (w *world) login() (session, form string) {
	w.t.Helper()
	link, err := SignedLink(address, []byte(key), w.now)
	r := w.do("POST", "/moderation/login", "", url.Values{"token": {tokenOf(w.t, link, err)}})
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/moderation" || len(r.Cookies()) != 1 {
		w.t.Fatalf("login: %d %s", r.StatusCode, r.Header)
	}
	session = r.Cookies()[0].Value
	match := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(body(w.do("GET", "/moderation", session, nil)))
	if match == nil {
		w.t.Fatal("the page has no form")
	}
	return session, match[1]
}

func TestLogin(t *testing.T) {
	w := newWorld(t)
	if r := w.do("GET", "/moderation", "", nil); r.StatusCode != http.StatusUnauthorized || strings.Contains(body(r), "<form") {
		t.Errorf("without a session: %d", r.StatusCode)
	}
	if r := w.do("GET", "/moderation", "guess", nil); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("with a wrong session: %d", r.StatusCode)
	}
	link, err := SignedLink(address, []byte(key), w.now)
	token := tokenOf(t, link, err)
	if len(token) < 43 {
		t.Errorf("the token %s has fewer than 256 bits", token)
	}
	// A mail scanner that opens the link does not use it up.
	for range 2 {
		if r := w.do("GET", "/moderation/login?token="+token, "", nil); r.StatusCode != http.StatusOK || len(r.Cookies()) != 0 || !strings.Contains(body(r), `value="`+token+`"`) {
			t.Errorf("the page of the link: %d", r.StatusCode)
		}
	}
	r := w.do("POST", "/moderation/login", "", url.Values{"token": {token}})
	c := r.Cookies()[0]
	if r.StatusCode != http.StatusSeeOther || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.MaxAge != 12*3600 || c.Path != "/" || c.Domain != "" {
		t.Errorf("login: %d, %+v", r.StatusCode, c)
	}
	if r := w.do("POST", "/moderation/login", "", url.Values{"token": {token}}); r.StatusCode != http.StatusForbidden || len(r.Cookies()) != 0 {
		t.Errorf("the second use of a link: %d", r.StatusCode)
	}
	if r := w.do("GET", "/moderation", c.Value, nil); r.StatusCode != http.StatusOK {
		t.Errorf("with the session: %d", r.StatusCode)
	}
	w.now = w.now.Add(sessionLife)
	if r := w.do("GET", "/moderation", c.Value, nil); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("with an old session: %d", r.StatusCode)
	}
	link, err = SignedLink(address, []byte(key), w.now)
	w.now = w.now.Add(linkLife)
	if r := w.do("POST", "/moderation/login", "", url.Values{"token": {tokenOf(t, link, err)}}); r.StatusCode != http.StatusForbidden {
		t.Errorf("an old link: %d", r.StatusCode)
	}

	session, form := w.login()
	if r := w.do("POST", "/moderation/logout", session, url.Values{"form": {form}}); r.StatusCode != http.StatusOK || r.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %d", r.StatusCode)
	}
	if r := w.do("GET", "/moderation", session, nil); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the logout: %d", r.StatusCode)
	}
	for range 3 * maxSessions { // memory is bounded
		w.login()
	}
	if n := len(w.page.logins.sessions); n > maxSessions {
		t.Errorf("%d sessions", n)
	}
}

func TestSignedLink(t *testing.T) {
	w := newWorld(t)
	post := func(token string) int {
		return w.do("POST", "/moderation/login", "", url.Values{"token": {token}}).StatusCode
	}
	link, err := SignedLink(address, []byte(key), w.now)
	token := tokenOf(t, link, err)
	forged, err := SignedLink(address, []byte(strings.Repeat("x", minKey)), w.now)
	for _, wrong := range []string{tokenOf(t, forged, err), "", ".", "x" + token, token + "x", strings.Replace(token, ".", "0.", 1)} {
		if code := post(wrong); code != http.StatusForbidden {
			t.Errorf("%q: %d", wrong, code)
		}
	}
	if first, second := post(token), post(token); first != http.StatusSeeOther || second != http.StatusForbidden {
		t.Errorf("first %d, second %d", first, second)
	}
	// A clock that jumps forward and back makes no link valid again.
	link, err = SignedLink(address, []byte(key), w.now)
	other := tokenOf(t, link, err)
	if code := post(other); code != http.StatusSeeOther {
		t.Errorf("another link: %d", code)
	}
	w.now = w.now.Add(24 * time.Hour)
	post("")
	w.now = w.now.Add(-24 * time.Hour)
	for _, used := range []string{token, other} {
		if code := post(used); code != http.StatusForbidden {
			t.Errorf("a used link after the clock jumped: %d", code)
		}
	}
	link, err = SignedLink(address, []byte(key), w.now)
	w.now = w.now.Add(linkLife)
	if code := post(tokenOf(t, link, err)); code != http.StatusForbidden {
		t.Errorf("an old link: %d", code)
	}
	link, err = SignedLink(address, []byte(key), w.now.Add(-time.Minute))
	now := w.now
	w = newWorld(t) // a restart forgets what was used
	w.now = now
	w.page.logins = newLogins(func() time.Time { return w.now })
	if code := post(tokenOf(t, link, err)); code != http.StatusForbidden {
		t.Errorf("a link from before the start: %d", code)
	}
	if _, err := SignedLink(address, []byte("short"), w.now); err == nil {
		t.Error("a short key passes")
	}
}

func TestDecisions(t *testing.T) {
	w := newWorld(t)
	at := func(source string) string {
		return w.store.Add(incoming.Mention{Source: source, Target: "https://our.example/", State: incoming.Held, Title: `<script>alert("x")</script>`,
			Excerpt: "</blockquote><img src=x onerror=alert(1)>", Verified: w.now, Received: w.now})[0]
	}
	ids := map[string]string{"approve": at("https://a.example/"), "deny": at("https://b.example/"), "trust": at("https://c.example/"), "block": at("https://d.example/")}
	session, form := w.login()
	page := body(w.do("GET", "/moderation", session, nil))
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") || !strings.Contains(page, "&lt;script&gt;") || !strings.Contains(page, "4 mentions wait for a decision.") {
		t.Errorf("the page:\n%s", page)
	}
	shared := w.store.Add(incoming.Mention{Source: "https://github.com/alice/repo", Target: "https://our.example/", State: incoming.Held, Verified: w.now, Received: w.now})[0]
	report := w.store.Add(incoming.Mention{Action: incoming.UnlinkR, Source: "https://our.example/", Target: "https://old.example/", Replacement: "https://new.example/",
		State: incoming.Held, Verified: w.now, Received: w.now})[0]
	page = body(w.do("GET", "/moderation", session, nil))
	for _, text := range []string{"Trust github.com/alice</button>", "Block github.com/alice</button>", "The page that ours links to is gone, and moved to https://new.example/"} {
		if !strings.Contains(page, text) {
			t.Errorf("%q is missing in\n%s", text, page)
		}
	}
	w.do("POST", "/moderation/decide", session, url.Values{"form": {form}, "id": {shared}, "action": {"trust"}})
	if rules, _ := w.store.Rules(t.Context()); len(rules) != 1 || rules[0].Pattern != "https://github.com/alice/" {
		t.Errorf("trust at a shared host: %v", rules)
	}
	w.store.SetRules(t.Context(), []incoming.Rule{{Pattern: "https://github.com/alice/"}})
	if r := w.do("POST", "/moderation/decide", session, url.Values{"form": {form}, "id": {report}, "action": {"approve"}}); r.Header.Get("Location") != "/moderation?done=change" {
		t.Errorf("a change of our link: %s", r.Header.Get("Location"))
	}
	want := map[string]incoming.State{"approve": incoming.Approved, "deny": incoming.Refused, "trust": incoming.Approved, "block": incoming.Blocked}
	for _, action := range []string{"approve", "deny", "trust", "block"} {
		id := ids[action]
		values := url.Values{"form": {form}, "id": {id}, "action": {action}}
		for _, bad := range []url.Values{{"id": {id}, "action": {action}}, {"form": {form + "x"}, "id": {id}, "action": {action}}, {"form": {formToken("other")}, "id": {id}, "action": {action}}} {
			if r := w.do("POST", "/moderation/decide", session, bad); r.StatusCode != http.StatusForbidden {
				t.Errorf("%s without the token of the form: %d", action, r.StatusCode)
			}
		}
		if r := w.do("POST", "/moderation/decide", "", values); r.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a session: %d", action, r.StatusCode)
		}
		if r := w.do("GET", "/moderation/decide?"+values.Encode(), session, nil); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "POST" {
			t.Errorf("GET %s: %d", action, r.StatusCode)
		}
		if m, _ := w.store.Mention(t.Context(), id); m.State != incoming.Held {
			t.Fatalf("%s was carried out without right", action)
		}
		r := w.do("POST", "/moderation/decide", session, values)
		if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/moderation?done="+action {
			t.Errorf("%s: %d %s", action, r.StatusCode, r.Header.Get("Location"))
		}
		if m, _ := w.store.Mention(t.Context(), id); m.State != want[action] {
			t.Errorf("%s: the mention is %s", action, m.State)
		}
		if page := body(w.do("GET", "/moderation?done="+action, session, nil)); !strings.Contains(page, `role="status" tabindex="-1" autofocus>`+results[action]) {
			t.Errorf("%s: no status in\n%s", action, page)
		}
	}
	if rules, _ := w.store.Rules(t.Context()); fmt.Sprint(rules) != "[{c.example trust decided on 2023-11-14 on the moderation page} {d.example block decided on 2023-11-14 on the moderation page}]" {
		t.Errorf("rules %v", rules)
	}
	for _, test := range []struct {
		values url.Values
		code   int
		where  string
	}{
		{url.Values{"form": {form}, "id": {"none"}, "action": {"approve"}}, http.StatusSeeOther, "/moderation?done=missing"},
		{url.Values{"form": {form}, "id": {ids["deny"]}, "action": {"erase"}}, http.StatusBadRequest, ""},
		{url.Values{"form": {form}, "id": {strings.Repeat("x", maxForm)}}, http.StatusForbidden, ""},
	} {
		if r := w.do("POST", "/moderation/decide", session, test.values); r.StatusCode != test.code || r.Header.Get("Location") != test.where {
			t.Errorf("%.80v: %d %s", test.values, r.StatusCode, r.Header.Get("Location"))
		}
	}

	// A rule is kept in the file first; without it, nothing changes.
	id := at("https://e.example/")
	var saved []incoming.Rule
	fail := errors.New("read-only file")
	w.page.opt.SaveRule = func(_ context.Context, r incoming.Rule) error { saved = append(saved, r); return fail }
	block := url.Values{"form": {form}, "id": {id}, "action": {"block"}}
	if r := w.do("POST", "/moderation/decide", session, block); r.StatusCode != http.StatusInternalServerError {
		t.Errorf("a file that cannot be written: %d", r.StatusCode)
	}
	if m, _ := w.store.Mention(t.Context(), id); m.State != incoming.Held {
		t.Errorf("the mention is %s", m.State)
	}
	fail = nil
	w.do("POST", "/moderation/decide", session, block)
	if m, _ := w.store.Mention(t.Context(), id); m.State != incoming.Blocked || len(saved) != 2 || saved[1].Pattern != "e.example" || saved[1].Verdict != incoming.Block {
		t.Errorf("the mention is %s, saved %v", m.State, saved)
	}

	w.store.Fail(errors.New("disk full"))
	for _, r := range []*http.Response{w.do("GET", "/moderation", session, nil), w.do("POST", "/moderation/decide", session, url.Values{"form": {form}, "id": {"x"}, "action": {"deny"}})} {
		if text := body(r); r.StatusCode != http.StatusInternalServerError || strings.Contains(text, "disk full") || !strings.Contains(text, "because the store ") {
			t.Errorf("a failing store: %d", r.StatusCode)
		}
	}
}

func TestHeaders(t *testing.T) {
	w := newWorld(t)
	session, _ := w.login()
	for _, path := range []string{"/moderation", "/moderation/login?token=x", "/moderation/decide", "/moderation/else"} {
		h := w.do("GET", path, session, nil).Header
		csp := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'; style-src 'sha256-") || strings.Contains(csp, "unsafe") || h.Get("Cache-Control") != "no-store" ||
			h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %v", path, h)
		}
	}
	for _, bad := range []string{"", "receiver.example/moderation", "ftp://a.example/x", "https://a.example/"} {
		if _, err := NewPage(PageOptions{Address: bad, Key: []byte(key)}); err == nil {
			t.Errorf("the address %q passes", bad)
		}
	}
	if _, err := NewPage(PageOptions{Address: address}); err == nil {
		t.Error("a page without a key passes")
	}
}

// TestMany: the page shows many mentions on several pages. After a decision, it shows the
// same page, or the last one that there is.
func TestMany(t *testing.T) {
	w := newWorld(t)
	for i := range maxRows + 7 {
		w.store.Add(incoming.Mention{Source: fmt.Sprintf("https://s%d.example/", i), Target: "https://our.example/", State: incoming.Held})
	}
	session, form := w.login()
	previous, next := `<a href="/moderation?page=1" rel="prev">`, `<a href="/moderation?page=2" rel="next">`
	seen := map[string]bool{}
	for path, want := range map[string]struct {
		rows           int
		summary        string
		previous, next bool
	}{
		"/moderation":          {maxRows, "57 mentions wait for a decision. These are 1 to 50.", false, true},
		"/moderation?page=-1":  {maxRows, "57 mentions wait for a decision. These are 1 to 50.", false, true},
		"/moderation?page=2":   {7, "57 mentions wait for a decision. These are 51 to 57.", true, false},
		"/moderation?page=999": {7, "57 mentions wait for a decision. These are 51 to 57.", true, false},
	} {
		page := body(w.do("GET", path, session, nil))
		if strings.Count(page, "<article") != want.rows || !strings.Contains(page, want.summary) || strings.Contains(page, previous) != want.previous || strings.Contains(page, next) != want.next {
			t.Errorf("%s: %d mentions in\n%s", path, strings.Count(page, "<article"), page)
		}
		for _, m := range regexp.MustCompile(`name="id" value="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			seen[m[1]] = true
		}
	}
	if len(seen) != maxRows+7 {
		t.Errorf("%d mentions on all pages", len(seen))
	}
	for id := range seen {
		r := w.do("POST", "/moderation/decide", session, url.Values{"form": {form}, "id": {id}, "action": {"deny"}, "page": {"2"}})
		if to := r.Header.Get("Location"); to != "/moderation?done=deny&page=2" {
			t.Fatalf("after a decision: %s", to)
		}
	}
	if page := body(w.do("GET", "/moderation?done=deny&page=2", session, nil)); !strings.Contains(page, "No mention waits") || strings.Contains(page, "<nav") {
		t.Errorf("at the end:\n%s", page)
	}
}
