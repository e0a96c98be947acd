package server

import (
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/text"
)

// statusPath is the beginning of the path of a status page; the ID of the mention
// follows.
const statusPath = "/webmention/status/"

const formType = "application/x-www-form-urlencoded"

// crossOrigin lets scripts of other sites send webmentions and read the answers.
func crossOrigin(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
	h.Set("Access-Control-Allow-Headers", "Content-Type")
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After")
	h.Set("Access-Control-Max-Age", "86400")
	h.Set("Vary", "Accept")
}

func (s *Server) takeWebmention(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, text string) {
		s.show(w, r, status, view{Title: "The webmention was not accepted", Text: text})
	}
	source, target, err := readForm(r)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		refuse(http.StatusRequestEntityTooLarge, "The request is too large.")
		return
	} else if err != nil {
		refuse(http.StatusBadRequest, err.Error())
		return
	}
	answers, err := s.receive(r.Context(), []incoming.Notice{{
		Protocol: incoming.Webmention, Action: incoming.Link, Source: source, Target: target, Peer: s.peer(r),
	}})
	if err != nil {
		refuse(http.StatusInternalServerError, "The webmention could not be stored. Please try again later.")
		return
	}
	a := answers[0]
	switch a.Outcome {
	case incoming.Accepted, incoming.Known:
		v := view{Title: "The webmention is queued", Text: "Thank you. The link will be verified.", State: incoming.Queued}
		if a.Outcome == incoming.Known {
			v = view{Title: "The webmention is already known", Text: "Thank you. It was received before."}
		}
		if a.ID == "" || s.opt.Mentions == nil {
			s.show(w, r, http.StatusAccepted, v)
			return
		}
		v.Location = s.origin(r) + statusPath + url.PathEscape(a.ID)
		w.Header().Set("Location", v.Location)
		s.show(w, r, http.StatusCreated, v)
	case incoming.Denied:
		refuse(http.StatusForbidden, reason(a, "Webmentions from this site or this address are not accepted."))
	case incoming.Limited:
		setRetryAfter(w, a.RetryAfter)
		refuse(http.StatusTooManyRequests, reason(a, "There are too many requests. Please try again later."))
	case incoming.Elsewhere:
		refuse(http.StatusBadRequest, reason(a, "The target is not a page of this site."))
	case incoming.Missing:
		refuse(http.StatusBadRequest, reason(a, "The target does not exist."))
	case incoming.Closed:
		refuse(http.StatusBadRequest, reason(a, "The target does not accept webmentions."))
	default:
		refuse(http.StatusBadRequest, reason(a, "The source and the target must be http or https URLs of different pages."))
	}
}

// setRetryAfter sets Retry-After, in seconds and at least one.
func setRetryAfter(w http.ResponseWriter, after time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(after.Seconds())))))
}

// formError is what is wrong with a request, in a sentence for its sender.
type formError string

func (e formError) Error() string { return string(e) }

// readForm returns the source and the target of a webmention. The type of the
// request may have any parameters, and may be missing. A semicolon is part of
// a value, because many senders do not escape it.
func readForm(r *http.Request) (source, target string, err error) {
	if field := r.Header.Get("Content-Type"); field != "" {
		if media, _, err := mime.ParseMediaType(field); media != formType {
			_ = err // parameters may be malformed
			return "", "", formError("A webmention is sent as a form: with the type " + formType + ".")
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", "", err
	}
	values := map[string]string{}
	for pair := range strings.SplitSeq(string(body), "&") {
		name, value, _ := strings.Cut(strings.TrimRight(pair, "\r\n"), "=")
		if name != "source" && name != "target" {
			continue
		}
		if _, twice := values[name]; twice {
			return "", "", formError("The request has more than one " + name + ".")
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return "", "", formError("The " + name + " is not encoded as a form.")
		}
		values[name] = strings.TrimSpace(value)
	}
	for _, name := range []string{"source", "target"} {
		if values[name] == "" {
			return "", "", formError("The request has no " + name + ". A webmention has a source, the page with the link, and a target, the page that it links to.")
		}
	}
	return values["source"], values["target"], nil
}

// serveStatus shows the state of a mention to those who know its ID: its sender.
// It does not say why it was decided so.
func (s *Server) serveStatus(w http.ResponseWriter, r *http.Request) {
	const allow = "GET, HEAD, OPTIONS"
	crossOrigin(w)
	if r.Method == http.MethodOptions {
		s.options(w, allow)
		return
	}
	if !s.allowed(w, r, allow) {
		return
	}
	missing := view{Title: "There is no such webmention", Text: "It may have been deleted."}
	if s.opt.Mentions == nil {
		s.show(w, r, http.StatusNotFound, missing)
		return
	}
	m, err := s.opt.Mentions.Mention(r.Context(), strings.TrimPrefix(r.URL.Path, statusPath))
	switch {
	case errors.Is(err, incoming.ErrNotFound):
		s.show(w, r, http.StatusNotFound, missing)
	case err != nil:
		s.storeFailed("a mention was not read", err)
		s.show(w, r, http.StatusInternalServerError, view{Title: "The state is not known", Text: "Please try again later."})
	default:
		s.show(w, r, http.StatusOK, view{Title: "Your webmention is " + string(m.State), Text: stateTexts[m.State], State: m.State, Source: m.Source, Target: m.Target})
	}
}

// stateTexts explain the states to a sender.
var stateTexts = map[incoming.State]string{
	incoming.Queued:   "The link will be verified soon.",
	incoming.Held:     "The link was found. The owner of the site will decide about it.",
	incoming.Approved: "The link was found, and the webmention was approved.",
	incoming.Refused:  "The owner of the site decided not to show it.",
	incoming.Rejected: "The link was not found. If the source links to the target now, send the webmention again.",
	incoming.Blocked:  "Webmentions from this source are not accepted.",
	incoming.Gone:     "The link was removed from the source.",
}

// view is a page, text or JSON document about a webmention.
type view struct {
	Title    string         `json:"-"`
	Text     string         `json:"message,omitempty"`
	State    incoming.State `json:"state,omitempty"`
	Source   string         `json:"source,omitempty"`
	Target   string         `json:"target,omitempty"`
	Location string         `json:"location,omitempty"`
	Error    bool           `json:"error,omitempty"`
	Form     bool           `json:"-"`
}

// show answers in the format that the client prefers. Texts of strangers are
// escaped, and no URL of theirs becomes a link.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, v view) {
	s.metrics.request("webmention", status)
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
	v.Error = status >= 400
	switch preferred(r.Header.Get("Accept"), v.Form) {
	case "html":
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		w.WriteHeader(status)
		_ = page.Execute(w, v)
	case "json":
		h.Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(text.JSONWriter(w)).Encode(v)
	default:
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		text := v.Title + ". " + v.Text + "\n"
		if v.Location != "" {
			text += "Its state is at " + v.Location + "\n"
		}
		if v.Source != "" {
			text += "source: " + oneLine(v.Source) + "\ntarget: " + oneLine(v.Target) + "\n"
		}
		_, _ = io.WriteString(w, text)
	}
}

// oneLine replaces control characters.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, text)
}

// preferred returns "html", "json" or "text": what an Accept header likes best
// (RFC 9110, section 12.5.1). Programs that accept everything get text, and
// a page with a form is always HTML.
func preferred(accept string, form bool) string {
	if form {
		return "html"
	}
	best, quality := "text", 0.0
	for element := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		format := map[string]string{
			"text/html": "html", "application/xhtml+xml": "html", "application/json": "json", "text/plain": "text", "text/*": "text", "*/*": "text",
		}[media]
		if format != "" && q > quality {
			best, quality = format, q
		}
	}
	return best
}

var page = template.Must(template.New("webmention").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<style>
body { font: 1rem/1.5 sans-serif; max-width: 36rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
input, button { font: inherit; padding: .4rem; box-sizing: border-box }
input { display: block; width: 100%; margin: .2rem 0 1rem }
dd { margin: 0 0 .5rem; overflow-wrap: anywhere }
</style>
</head>
<body>
<main>
<h1>{{.Title}}</h1>
{{- with .Text}}
<p>{{.}}</p>
{{- end}}
{{- if .Form}}
<p>Did you write about a page of this site? Tell us where.</p>
<form method="post" action="/webmention">
<label for="source">Address of your page, which links to ours</label>
<input id="source" name="source" type="url" required autocomplete="url">
<label for="target">Address of our page</label>
<input id="target" name="target" type="url" required value="{{.Target}}">
<button type="submit">Send</button>
</form>
{{- else}}
{{- with .Location}}
<p><a href="{{.}}">See its state</a></p>
{{- end}}
{{- with .Source}}
<dl>
<dt>Source</dt><dd>{{.}}</dd>
<dt>Target</dt><dd>{{$.Target}}</dd>
</dl>
{{- end}}
{{- end}}
</main>
</body>
</html>
`))
