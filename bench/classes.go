package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// handler answers the links of a kind.
type handler = func(w http.ResponseWriter, r *http.Request, v *visit)

// classes are one way of answering each, with one link on a host of its own. What is odd
// HTTP has the truth that Chromium 150 gave: works if it shows the page.
var classes = slices.SortedFunc(slices.Values(slices.Concat(statusClasses(), redirectClasses(), oddClasses(), failureClasses(), softClasses())),
	func(a, b kind) int { return strings.Compare(a.name, b.name) })

// class makes a kind with one link.
func class(name string, truth truth, serve handler) kind { return kind{name, truth, serve} }

// text is a page with a text of its own.
const text = "<!doctype html><title>An ordinary page</title><h1>Tomatoes</h1><p>They grow on a balcony if it has sun, and need water each day."

// show answers with a page for the link, and with 404 for any other path.
func show(status int, body string, fields ...string) handler {
	return func(w http.ResponseWriter, r *http.Request, v *visit) {
		if v.elsewhere {
			http.NotFound(w, r)
			return
		}
		everywhere(status, body, fields...)(w, r, v)
	}
}

// everywhere answers with the same page for each path. PATH stands for the path.
func everywhere(status int, body string, fields ...string) handler {
	return func(w http.ResponseWriter, r *http.Request, _ *visit) {
		w.Header().Set("Content-Type", "text/html")
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, strings.ReplaceAll(body, "PATH", r.URL.Path))
	}
}

// raw sends bytes for the link and closes the connection.
func raw(answer string) handler {
	return func(w http.ResponseWriter, r *http.Request, v *visit) {
		if v.elsewhere {
			http.NotFound(w, r)
			return
		}
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(c, answer)
		if t, ok := c.(*net.TCPConn); ok {
			t.CloseWrite()
		}
		c.Close()
	}
}

// once answers the first GET in one way, and others in another.
func once(first, then handler) handler {
	return func(w http.ResponseWriter, r *http.Request, v *visit) {
		if v.times == 0 {
			first(w, r, v)
			return
		}
		then(w, r, v)
	}
}

// head answers HEAD in one way, and GET in another. An ETag makes checkers use HEAD.
func head(answer, get handler) handler {
	return func(w http.ResponseWriter, r *http.Request, v *visit) {
		if r.Method == http.MethodHead {
			answer(w, r, v)
			return
		}
		w.Header().Set("ETag", `"1"`)
		get(w, r, v)
	}
}

// hops redirects n times, by the query, and then answers.
func hops(n, status int, last handler) handler {
	return func(w http.ResponseWriter, r *http.Request, v *visit) {
		if done := len(r.URL.RawQuery); done < n {
			w.Header().Set("Location", r.URL.Path+"?"+strings.Repeat("x", done+1))
			w.WriteHeader(status)
			return
		}
		last(w, r, v)
	}
}

// to redirects to an address; its target is answered by last.
func to(status int, location string, last handler) handler {
	return func(w http.ResponseWriter, r *http.Request, v *visit) {
		if v.elsewhere && last != nil && !strings.Contains(r.URL.Path, "/sitelink-") {
			last(w, r, v)
			return
		}
		if v.elsewhere || r.URL.RawQuery != "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}

var (
	fine    = show(200, text)
	missing = show(404, "<title>404</title>No such page")
)

// statusClasses answer with a status, a type or an encoding.
func statusClasses() (all []kind) {
	for _, s := range []int{200, 201, 202, 203, 206, 226, 299} {
		all = append(all, class(fmt.Sprintf("%d", s), works, show(s, text)))
	}
	for _, s := range []int{204, 205} {
		all = append(all, class(fmt.Sprintf("%d", s), works, show(s, "")))
	}
	for _, s := range []int{404, 410, 500, 501, 502, 503, 504, 508, 520, 521, 522, 523, 525, 526, 530} {
		all = append(all, class(fmt.Sprintf("%d", s), dead, show(s, "<h1>Failure</h1>")))
	}
	for _, s := range []int{300, 304, 400, 401, 402, 403, 405, 406, 409, 417, 418, 421, 423, 429, 444, 451, 499, 600, 999} {
		all = append(all, class(fmt.Sprintf("%d", s), unscored, show(s, "<h1>Refused</h1>")))
	}
	for _, kind := range []string{"application/pdf", "image/png", "application/json", "text/plain", "application/octet-stream", "application/xhtml+xml", "text/html; charset=klingon", "nonsense", ""} {
		all = append(all, class("type "+kind, works, show(200, text, "Content-Type: "+kind)))
	}
	for _, f := range []string{"Content-Disposition: attachment; filename=x", "X-Robots-Tag: noindex", "Refresh: 600", "Set-Cookie: a=\x7f\"; =; ;;", "Date: yesterday",
		"ETag: not quoted", "Last-Modified: never", "Content-Location: /other", "Content-Range: bytes 0-10/5", "Vary: *", "Alt-Svc: h3=\":443\"", "Link: <", "Content-Language: 12",
		"Content-Encoding: UTF-8", "Content-Encoding: none", "Content-Encoding: identity", "Retry-After: 100"} {
		all = append(all, class("with "+f, works, show(200, text, f)))
	}
	zipped := func(extra string) handler {
		return func(w http.ResponseWriter, r *http.Request, v *visit) {
			if v.elsewhere {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/html")
			z := gzip.NewWriter(w)
			io.WriteString(z, text)
			z.Close()
			io.WriteString(w, extra)
		}
	}
	always := func(status int) handler { return show(status, "<h1>Wait</h1>") }
	return append(all,
		class("empty page", works, show(200, "")),
		class("gzip", works, zipped("")),
		class("gzip that is plain", dead, show(200, text, "Content-Encoding: gzip")),
		class("500 once", works, once(always(500), fine)),
		class("502 once", works, once(always(502), fine)),
		class("503 once", works, once(always(503), fine)),
		class("404 once", works, once(always(404), fine)),
		class("429 once with Retry-After", works, once(show(429, "", "Retry-After: 1"), fine)),
		class("503 with a long Retry-After", unscored, show(503, "", "Retry-After: 86400")),
		class("answers after 2 s", works, func(w http.ResponseWriter, r *http.Request, v *visit) { time.Sleep(2 * time.Second); fine(w, r, v) }),
		class("HEAD 404", works, head(always(404), fine)),
		class("HEAD 405", works, head(always(405), fine)),
		class("HEAD 500", works, head(always(500), fine)),
		class("HEAD 403", works, head(always(403), fine)),
		class("HEAD closes", works, head(raw(""), fine)),
		class("HEAD 200, GET 404", dead, head(fine, missing)),
		class("wants a cookie", works, func(w http.ResponseWriter, r *http.Request, v *visit) {
			if _, err := r.Cookie("seen"); err != nil {
				http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/"})
				http.Redirect(w, r, r.URL.Path, http.StatusFound)
				return
			}
			fine(w, r, v)
		}),
		class("wants Accept: text/html", works, func(w http.ResponseWriter, r *http.Request, v *visit) {
			if !strings.Contains(r.Header.Get("Accept"), "text/html") {
				w.WriteHeader(406)
				return
			}
			fine(w, r, v)
		}),
	)
}

// redirectClasses redirect.
func redirectClasses() (all []kind) {
	for _, s := range []int{301, 302, 303, 307, 308} {
		all = append(all, class(fmt.Sprintf("%d to a page", s), works, hops(1, s, fine)), class(fmt.Sprintf("%d to 404", s), dead, hops(1, s, missing)))
	}
	for _, n := range []int{5, 10, 11, 15, 19} {
		all = append(all, class(fmt.Sprintf("%d redirects", n), works, hops(n, 302, fine)))
	}
	for _, n := range []int{21, 30} {
		all = append(all, class(fmt.Sprintf("%d redirects", n), dead, hops(n, 302, fine)))
	}
	for name, location := range map[string]string{"with a fragment": "/next#part", "with spaces": "/next?a b", "with UTF-8": "/next?ü", "with a backslash": "\\next", "with a space before": " /next",
		"without a slash": "next", "with a query only": "?next", "without scheme": "//HOST/next", "with tracking": "/next?utm_source=x", "to a login": "/login?to=x"} {
		all = append(all, class("301 "+name, works, func(w http.ResponseWriter, r *http.Request, v *visit) {
			if strings.Contains(r.URL.RequestURI(), "next") || strings.HasPrefix(r.URL.Path, "/login") {
				everywhere(200, text)(w, r, v)
				return
			}
			if v.elsewhere {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Location", strings.ReplaceAll(location, "HOST", r.Host))
			w.WriteHeader(301)
		}))
	}
	return append(all,
		class("redirect to itself", dead, func(w http.ResponseWriter, r *http.Request, v *visit) { http.Redirect(w, r, r.URL.Path, 302) }),
		class("redirect between two", dead, func(w http.ResponseWriter, r *http.Request, v *visit) {
			http.Redirect(w, r, r.URL.Path+"?"+map[bool]string{true: "b", false: "a"}[r.URL.RawQuery == "a"], 302)
		}),
		class("redirect that grows", dead, func(w http.ResponseWriter, r *http.Request, v *visit) {
			http.Redirect(w, r, r.URL.Path+"?"+r.URL.RawQuery+"x", 302)
		}),
		class("redirect to no URL", dead, to(302, "http://[bad", nil)),
		class("redirect to a closed port", dead, to(302, "http://127.0.0.1:1025/", nil)),
		class("302 without Location", works, show(302, text)),
		class("301 to /index.html", works, to(301, "/index.html", everywhere(200, text))),
	)
}

// oddClasses send what is not quite HTTP.
func oddClasses() (all []kind) {
	const ok, html, end = "HTTP/1.1 200 OK\r\n", "Content-Type: text/html\r\n", "Connection: close\r\n\r\n"
	add := func(name string, truth truth, answer string) { all = append(all, class(name, truth, raw(answer))) }
	add("HTTP/1.0", works, "HTTP/1.0 200 OK\r\n"+html+end+text)
	add("HTTP/0.9 on an odd port", dead, text)
	add("lines that end in LF", works, "HTTP/1.1 200 OK\nContent-Type: text/html\n\n"+text)
	add("no reason", works, "HTTP/1.1 200\r\n"+html+end+text)
	add("lower case", works, "http/1.1 200 ok\r\n"+html+end+text)
	add("no version", works, "HTTP 200 OK\r\n"+html+end+text)
	add("HTTP/2.0 in text", works, "HTTP/2.0 200 OK\r\n"+html+end+text)
	add("HTTP/1.12", works, "HTTP/1.12 200 OK\r\n"+html+end+text)
	add("two spaces", works, "HTTP/1.1  200 OK\r\n"+html+end+text)
	add("ICY", works, "ICY 200 OK\r\n"+html+end+text)
	add("an empty line first", works, "\r\n"+ok+html+end+text)
	add("junk first", works, "abcd"+ok+html+end+text)
	add("much junk first", dead, "abcdefgh"+ok+html+end+text)
	for name, field := range map[string]string{"no colon": "this is no field\r\n", "a space in a name": "X Odd: 1\r\n", "a space before the colon": "X-Odd : 1\r\n",
		"no name": ": x\r\n", "a name in UTF-8": "X-Ü: 1\r\n", "a folded line": "X-Long: a\r\n b\r\n", "a control character": "X-Odd: a\x01b\r\n", "a lone CR": "X-Odd: a\rb\r\n",
		"a header of 100 KB": "X-Big: " + strings.Repeat("x", 100_000) + "\r\n", "Content-Length: abc": "Content-Length: abc\r\n", "Content-Length: -5": "Content-Length: -5\r\n",
		"an empty Content-Length": "Content-Length: \r\n", "an unknown Transfer-Encoding": "Transfer-Encoding: foo\r\n", "Transfer-Encoding: identity": "Transfer-Encoding: identity\r\n"} {
		add(name, works, ok+html+field+end+text)
	}
	add("NUL in a field", dead, ok+html+"X-Odd: a\x00b\r\n"+end+text)
	add("a header of 300 KB", dead, ok+html+"X-Big: "+strings.Repeat("x", 300_000)+"\r\n"+end+text)
	add("two lengths", dead, ok+html+"Content-Length: 5\r\nContent-Length: 6\r\n"+end+text)
	add("two Locations", dead, "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n"+end)
	add("a body cut short", works, ok+html+"Content-Length: 5000\r\n"+end+text)
	add("chunks cut short", works, ok+html+"Transfer-Encoding: chunked\r\n"+end+fmt.Sprintf("%x\r\n%s\r\n", len(text), text))
	add("a chunk cut short", works, ok+html+"Transfer-Encoding: chunked\r\n"+end+"ffff\r\n"+text)
	add("chunked twice", works, ok+html+"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"+end+fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(text), text))
	add("a length that is too small", works, ok+html+"Content-Length: 10\r\n"+end+text)
	add("100 and 103 first", works, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"+ok+html+end+text)
	add("101 without a request", dead, "HTTP/1.1 101 Switching Protocols\r\n\r\n"+text)
	add("ssh", dead, "SSH-2.0-OpenSSH_9.2\r\n")
	add("mail", dead, "220 mail.example ESMTP\r\n")
	add("an empty answer", dead, "")
	return all
}

// failureClasses have no answer, or are behind a wall.
func failureClasses() (all []kind) {
	for _, name := range []string{"certificate expired", "certificate of another host", "certificate signs itself"} {
		all = append(all, class(name, dead, fine))
	}
	for name, page := range map[string]string{
		"Cloudflare": `<title>Just a moment...</title><script>window._cf_chl_opt={cType:'managed'}</script><script src="/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1"></script>`,
		"DataDome":   `<title>site.example</title><p id="cmsg">Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>`,
		"Imperva":    `<html><head><META NAME="robots" CONTENT="noindex,nofollow"></head><iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=1">Request unsuccessful. Incapsula incident ID: 1-2</iframe>`,
		"PerimeterX": `<title>Access to this page has been denied</title><div id="px-captcha"></div><script src="/x/captcha.js"></script>`,
		"AWS WAF":    `<script>window.awsWafCookieDomainList=[];window.gokuProps={}</script><noscript>JavaScript is disabled</noscript>`,
		"Anubis":     `<title>Making sure you&#39;re not a bot!</title><script src="/.within.website/x/cmd/anubis/static/js/main.mjs"></script><p>Loading`,
		"Sucuri":     `<script>var s={},u,c,U,r,i,l=0;sucuri_cloudproxy_js='';</script>`,
		"Amazon":     `<title>Robot Check</title><p>Enter the characters you see below<img src="https://opfcaptcha.amazon.com/a.jpg"> api-services-support@amazon.com`,
	} {
		for _, status := range []int{200, 503} {
			all = append(all, class(fmt.Sprintf("wall of %s with %d", name, status), unscored, everywhere(status, page)))
		}
	}
	return append(all,
		class("HTTP/2", works, fine),
		class("TLS demands a certificate", unscored, fine),
		class("TLS asks for a certificate", works, fine),
		class("TLS 1.2 only", works, fine),
		class("an intermediate is missing", works, fine),
		class("refused connection", dead, nil),
		class("reset", dead, func(w http.ResponseWriter, r *http.Request, v *visit) { reset(w) }),
		class("reset once", works, once(func(w http.ResponseWriter, r *http.Request, v *visit) { reset(w) }, fine)),
		class("nginx wants a certificate", unscored, show(400, "<center>No required SSL certificate was sent</center>")),
	)
}

// softClasses answer 200 for what is missing, and look so for what is not.
func softClasses() []kind {
	const sorry = "<title>Our shop</title><h1>Sorry</h1><p>We looked everywhere, and there is nothing at this place. Go back to the start and try again."
	const app = `<title>App</title><div id=root></div><script src=/app.js></script><noscript>You need to enable JavaScript to run this app, sorry about that.</noscript>`
	nonce := func(w http.ResponseWriter, r *http.Request, v *visit) {
		everywhere(200, sorry+fmt.Sprintf(`<form><input name=csrf value="%d"></form><p>made in %d ms`, time.Now().UnixNano(), v.seed))(w, r, v)
	}
	home := func(status int) handler { return to(status, "/", everywhere(200, text)) }
	return []kind{
		class("the same page for each address", dead, everywhere(200, sorry)),
		class("the same page with the address", dead, everywhere(200, sorry+"<p>You wanted PATH.")),
		class("the same page with a nonce", dead, nonce),
		class("the home page for each address", dead, everywhere(200, text)),
		class("a title that says 404", dead, everywhere(200, "<title>404 Not Found</title><p>No such page here, we are sorry.")),
		class("302 home", dead, home(302)),
		class("301 home", dead, home(301)),
		class("302 to /404.html", dead, to(302, "/404.html", everywhere(200, sorry))),
		class("302 to /not-found", dead, to(302, "/not-found", everywhere(200, sorry))),
		class("refresh to /404", dead, show(200, `<meta http-equiv="refresh" content="0; url=/404">`)),
		class("refresh to a 404", dead, show(200, `<meta http-equiv="refresh" content="0; url=/elsewhere">moved`)),
		class("parked by script", dead, everywhere(200, `<title>site.example</title><script src="https://www.sedoparking.com/x.js"></script>`)),
		class("parked by text", dead, everywhere(200, `<title>site.example</title><p>This domain may be for sale. Buy this domain.`)),
		class("parked by ParkingCrew", dead, everywhere(200, `<title>site.example</title><script src="//www.parkingcrew.net/jsparkcaf.php"></script>`)),
		class("an application for each address", works, everywhere(200, app)),
		class("an article about 404", works, show(200, "<title>The 404 media company</title>"+text)),
		class("an article about domains", works, show(200, text+"<p>This domain is for sale, it said."+strings.Repeat("<p>More about the market of names and what they cost.", 60))),
		class("an article about walls", works, show(200, text+"<p>captcha-delivery.com and _Incapsula_Resource"+strings.Repeat("<p>More about walls and what they do to readers.", 60))),
		class("refresh to a page", works, func(w http.ResponseWriter, r *http.Request, v *visit) {
			if r.URL.RawQuery != "" {
				fine(w, r, v)
				return
			}
			show(200, `<meta http-equiv=refresh content="0;url=?next">`)(w, r, v)
		}),
		class("others are redirected home", works, func(w http.ResponseWriter, r *http.Request, v *visit) {
			if v.elsewhere {
				http.Redirect(w, r, "/", http.StatusFound)
				return
			}
			fine(w, r, v)
		}),
		class("others are the home page", works, func(w http.ResponseWriter, r *http.Request, v *visit) {
			if v.elsewhere {
				everywhere(200, sorry)(w, r, v)
				return
			}
			fine(w, r, v)
		}),
		class("short pages", works, show(200, "<p>yes")),
		class("behind Imperva", works, show(200, text+strings.Repeat("<p>More about tomatoes.", 30)+`<script src="/_Incapsula_Resource?S=1"></script>`)),
		class("behind Cloudflare", works, show(200, text+`<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>`)),
		class("a login form on the page", works, show(200, text+`<form><input type=password></form>`)),
	}
}
