// Package script finds out which fragments a script can serve: whether it reads the fragment of
// the page's address, or is the router of a known framework.
//
// On a page without such a script, a fragment that no element has is missing, however many links
// ask for it.
package script

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Form is the form of a fragment. Generators write ids in the form [FormOrdinary];
// scripts invent the others.
type Form uint8

const (
	// FormOrdinary is any fragment without another form.
	FormOrdinary Form = iota
	// FormRoute begins with a slash or an exclamation mark: /guide, !guide.
	FormRoute
	// FormLines names a line or a range of lines: L10, L10-L20, 10-20.
	FormLines
	// FormSetting contains an equals sign: tab=2.
	FormSetting
	// FormPath contains a slash: tag/pets.
	FormPath
	// FormMember contains an at sign, as in scaladoc: scala.Option@map.
	FormMember
)

// Forms is a set of forms.
type Forms uint8

// FormSet returns the set of some forms.
func FormSet(forms ...Form) (s Forms) {
	for _, f := range forms {
		s |= 1 << f
	}
	return s
}

// Has reports whether the set contains a form.
func (s Forms) Has(f Form) bool { return s>>f&1 != 0 }

// Use is what a script does with the fragment of the page's address.
type Use struct {
	// Framework is the name of the framework if the script is its router, or
	// "".
	Framework string
	// How says how the script reads the fragment, for messages, such as "reads
	// location.hash"; "" for a script of a framework.
	How string
	// Forms are the forms of fragments that the script can serve.
	Forms Forms
	// Scaladoc is set for the frame set of scaladoc, which shows the page of the
	// class that the fragment names.
	Scaladoc bool
	// comments matches the ids of the comments that the script adds, see Serves.
	comments func() *regexp.Regexp
}

// Any reports whether the script can serve any fragment.
func (u *Use) Any() bool { return u.Forms != 0 || u.comments != nil }

// ReadsHash reports whether the script is known to read location.hash.
func (u *Use) ReadsHash() bool { return u.How == readsLocation }

const readsLocation = "reads location.hash"

// framework is a library with a router that serves fragments.
type framework struct {
	name  string
	forms Forms
	// files are the names of its scripts and packages, without version, ".min"
	// and ".js". A name that ends in * is a prefix.
	files []string
}

// Docsify is the name of the framework that shows Markdown files. It also serves
// the name of a file without a slash before it.
const Docsify = "Docsify"

// frameworks are libraries with a router that works on the fragment, or did when
// most sites that use them were written.
var frameworks = []framework{
	{"rustdoc", FormSet(FormLines), []string{"source-script*", "src-script*"}},
	{Docsify, FormSet(FormRoute), []string{"docsify"}},
	{"Angular", FormSet(FormRoute), []string{"angular", "angular-route", "angular-ui-router", "angularjs"}},
	{"Vue Router", FormSet(FormRoute), []string{"vue-router"}},
	{"React Router", FormSet(FormRoute), []string{"react-router", "react-router-dom"}},
	{"Backbone", FormSet(FormRoute, FormPath), []string{"backbone"}},
	{"Sammy", FormSet(FormRoute), []string{"sammy"}},
	{"Director", FormSet(FormRoute), []string{"director"}},
	{"Navigo", FormSet(FormRoute), []string{"navigo"}},
	{"Hasher", FormSet(FormRoute), []string{"hasher"}},
	{"reveal.js", FormSet(FormRoute), []string{"reveal"}},
	{"impress.js", FormSet(FormRoute), []string{"impress"}},
	{"Swagger UI", FormSet(FormRoute), []string{"swagger-ui", "swagger-ui-bundle"}},
	{"Redoc", FormSet(FormPath, FormRoute), []string{"redoc"}},
	{"PhotoSwipe", FormSet(FormSetting), []string{"photoswipe"}},
}

// ByAddress returns what a script does by its address, which may be all that is
// known of it.
func ByAddress(address string) Use {
	names := fileNames(address)
	for _, f := range frameworks {
		for _, file := range f.files {
			prefix, isPrefix := strings.CutSuffix(file, "*")
			if slices.ContainsFunc(names, func(n string) bool { return n == file || isPrefix && strings.HasPrefix(n, prefix) }) {
				return Use{Framework: f.name, Forms: f.forms}
			}
		}
	}
	return commentsByAddress(address)
}

// fileNames returns the names that an address may have for its script, in lower
// case and without version and extensions: that of the file and, on another
// host, that of the package. The file names of a content delivery network say
// less: /npm/docsify@4, /ajax/libs/angular.js/1.8.2/angular.min.js.
func fileNames(address string) []string {
	address = strings.TrimSpace(address)
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if u.Host == "" {
		parts = parts[len(parts)-1:]
	}
	for i, p := range parts {
		parts[i] = plainName(p)
	}
	return parts
}

// plainName returns the name of a script or package without version, ".min" and
// ".js": angular for angular-1.8.2.min.js, docsify for docsify@4.
func plainName(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), "@")
	for _, end := range []string{".js", ".mjs", ".min", ".prod", ".global", ".esm", ".umd", ".bundle", ".slim", ".standalone"} {
		name = strings.TrimSuffix(name, end)
	}
	if i := strings.LastIndexAny(name, "-."); i > 0 && strings.Trim(name[i+1:], "0123456789.") == "" {
		return plainName(strings.TrimRight(name[:i], "-.")) // a version
	}
	return name
}

// libraries are scripts that read the fragment for purposes of their own: to find
// the element of a link, to count a visit, to scroll. They serve none. A name
// that ends in * is a prefix.
var libraries = []string{
	"jquery", "jquery-ui", "jquery.ui.*", "jquery.layout", "jquery-migrate", "jquery.scrollto", "bootstrap", "modernizr",
	"foundation", "uikit", "semantic", "materialize", "polyfill", "turbo", "turbolinks", "htmx", "swup", "pjax", "instantpage",
	"smooth-scroll*", "scrollspy", "gumshoe", "mathjax", "anchor", "google_analytics", "analytics", "ga", "gtag", "gtm", "matomo",
	"piwik", "plausible*", "umami", "fathom", "goatcounter", "count", "tracker", "sentry*", "mixpanel*", "amplitude*", "posthog*",
}

// IsLibrary reports whether the address of a script names a library that uses the
// fragment only for its own purposes.
func IsLibrary(address string) bool {
	for _, name := range fileNames(address) {
		if slices.ContainsFunc(libraries, func(l string) bool {
			prefix, isPrefix := strings.CutSuffix(l, "*")
			return name == l || isPrefix && strings.HasPrefix(name, prefix)
		}) {
			return true
		}
	}
	return false
}

// analytics are words of scripts that count visits. A fragment that is read near
// one of them is only reported to a server.
var analytics = [][]byte{
	[]byte("gtag("), []byte("pageview"), []byte("page_path"), []byte("page_location"), []byte("_gaq"), []byte("_paq"), []byte("dataLayer"), []byte("google-analytics"), []byte("googletagmanager"),
	[]byte("sendBeacon"), []byte("plausible"), []byte("umami"), []byte("goatcounter"), []byte("matomo"),
}

// nearBytes is how far from the reading such a word may be.
const nearBytes = 400

// ByText returns what a script does by its text: whether code, not a comment,
// reads location.hash or handles the event hashchange, or loads the comments of
// visitors.
func ByText(text []byte) Use {
	if u := commentsByText(text); u.Any() {
		return u
	}
	if !bytes.Contains(text, []byte("hash")) {
		return Use{}
	}
	if bytes.Contains(text, []byte("function setFrameSrcFromUrlFragment")) {
		return Use{Framework: "scaladoc", Forms: FormSet(FormOrdinary, FormMember), Scaladoc: true}
	}
	for _, banner := range []string{"jQuery JavaScript Library", "jQuery v", "jQuery UI - v", "Bootstrap v"} {
		if bytes.Contains(text[:min(len(text), nearBytes)], []byte(banner)) {
			return Use{}
		}
	}
	how, at := "", 0
	parts(text, func(start, end int, isCode bool) bool {
		what, i := "handles hashchange", -1
		if isCode {
			if i = readsHash(text[start:end]); i >= 0 {
				what = readsLocation
			} else {
				i = bytes.Index(text[start:end], []byte("onhashchange"))
			}
		} else {
			i = bytes.Index(text[start:end], []byte("hashchange"))
		}
		if i < 0 {
			return true
		}
		at = start + i
		near := text[max(0, at-nearBytes):min(len(text), at+nearBytes)]
		if slices.ContainsFunc(analytics, func(word []byte) bool { return bytes.Contains(near, word) }) {
			return true
		}
		how = what
		return false
	})
	if how == "" {
		return Use{}
	}
	return Use{How: how, Forms: invented}
}

// invented are the forms of fragments that a script may serve if all that is known is that
// it reads the fragment.
const invented Forms = 1<<FormRoute | 1<<FormLines | 1<<FormSetting | 1<<FormPath

// Unread is what a script may do if its text is not read and its address says nothing.
var Unread = Use{How: "is not read", Forms: invented}

// readsHash returns where code reads location.hash, or -1. An assignment does not
// read it.
func readsHash(code []byte) int {
	word := []byte("location")
	for from := 0; ; {
		i := bytes.Index(code[from:], word)
		if i < 0 {
			return -1
		}
		i += from
		from = i + len(word)
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(code[from:], " \t\r\n"), []byte("."))
		if !ok {
			continue
		}
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("hash"))
		if !ok || len(rest) > 0 && isNameByte(rest[0]) {
			continue
		}
		rest = bytes.TrimLeft(rest, " \t\r\n")
		if len(rest) > 0 && rest[0] == '=' && !bytes.HasPrefix(rest, []byte("==")) {
			continue
		}
		return i
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}
