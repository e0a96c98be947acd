package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// redirects judges _redirects and _headers, which Netlify and Cloudflare Pages
// both read: by the first line that only one of them understands. When there
// is none it is Netlify, which reports what Cloudflare's fallback for
// single-page applications would hide.
func (d *detector) redirects() (marker, bool) {
	name := ""
	for _, f := range []struct {
		name  string
		judge func(line string) string
	}{{"_redirects", redirectDialect}, {"_headers", headerDialect}} {
		data, ok := readMarker(d.docroot, f.name)
		if !ok {
			continue
		}
		if name == "" {
			name = f.name
		}
		n := 0
		for line := range bytes.Lines(data) {
			n++
			if profile := f.judge(string(line)); profile != "" {
				return marker{profile, fmt.Sprintf("line %d of %s", n, f.name)}, true
			}
		}
	}
	if name == "" {
		return marker{}, false
	}
	return marker{"netlify", name + ", which Cloudflare Pages reads too"}, true
}

// redirectDialect names the one host that understands a line of _redirects;
// empty when both do, or neither.
func redirectDialect(line string) string {
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	fields := strings.Fields(line)
	if len(fields) < 2 || fields[0][0] == '#' {
		return ""
	}
	from := fields[0]
	if strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://") {
		return "netlify" // rules for one domain
	}
	if star := strings.IndexByte(from, '*'); star >= 0 && star < len(from)-1 {
		return "cloudflare-pages" // Netlify takes "*" at the end only
	}
	for i, f := range fields[1:] {
		if !strings.HasPrefix(f, "/") && !strings.Contains(f, "://") && strings.Contains(f, "=") {
			return "netlify" // a query parameter or a condition
		}
		status, force := strings.CutSuffix(f, "!")
		if n, err := strconv.Atoi(status); err == nil && i > 0 && (force || n >= 400) {
			return "netlify"
		}
	}
	return ""
}

// headerDialect does the same for a line of _headers.
func headerDialect(line string) string {
	switch text := strings.TrimSpace(line); {
	case strings.HasPrefix(text, "! "):
		return "cloudflare-pages" // takes a header away
	case len(text) >= 11 && strings.EqualFold(text[:11], "Basic-Auth:"):
		return "netlify"
	}
	return ""
}
