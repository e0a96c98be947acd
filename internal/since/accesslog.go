package since

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Limits of reading an access log, which may be large and is written by strangers:
// every visitor chooses the request line and the referrer.
const (
	maxLine      = 64 << 10 // bytes; the rest of a longer line is skipped
	maxReferrers = 16       // different ones for each address; others are only counted
	maxReferrer  = 300      // bytes
	checkEvery   = 4096     // lines between two looks at the context
)

// Log says what was read of an access log.
type Log struct {
	// Lines counts the lines, Skipped those in another format.
	Lines, Skipped int
}

// ReadLog counts the requests for addresses that are gone in an access log in the
// common or the combined log format, compressed with gzip or not. shown names the
// log in messages. It reads the log as a stream, in memory that does not depend on
// its size. The error is that of reading, that of ctx, or says that no line is in
// one of the formats.
func (g *Gone) ReadLog(ctx context.Context, log io.Reader, shown string) (read Log, err error) {
	in := bufio.NewReaderSize(log, maxLine)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return read, fmt.Errorf("read the log %s: %w", shown, err)
		}
		in = bufio.NewReaderSize(unzipped, maxLine)
	}
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			read.Lines++
			if !g.addRequest(bytes.TrimRight(line, "\r\n")) {
				read.Skipped++
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF):
			if read.Lines > 0 && read.Skipped == read.Lines {
				return read, fault.New(fmt.Errorf("read the log %s: none of its lines is in the common or combined log format", shown),
					"the access logs of nginx, Apache, Caddy and lighttpd are, unless they are configured otherwise")
			}
			return read, nil
		case err != nil:
			return read, fmt.Errorf("read the log %s: %w", shown, err)
		case read.Lines%checkEvery == 0 && ctx.Err() != nil:
			return read, context.Cause(ctx)
		}
	}
}

// addRequest counts the request of a line. It reports whether the line is in one of
// the formats:
//
//	192.0.2.1 - - [22/Nov/2026:18:00:00 +0000] "GET /a/ HTTP/1.1" 200 512
//	192.0.2.1 - - [22/Nov/2026:18:00:00 +0000] "GET /a/ HTTP/1.1" 200 512 "https://example.org/" "Mozilla/5.0"
func (g *Gone) addRequest(line []byte) bool {
	date := bytes.IndexByte(line, '[')
	if date < 0 {
		return false
	}
	end := bytes.Index(line[date:], []byte("] \""))
	if end < 0 {
		return false
	}
	request, rest, ok := quoted(line[date+end+2:])
	if !ok || !hasStatus(rest) {
		return false
	}
	method, target, ok := bytes.Cut(request, []byte{' '})
	if !ok || string(method) != "GET" && string(method) != "HEAD" {
		return true // a broken request, or one that does not visit the page
	}
	target, _, _ = bytes.Cut(target, []byte{' '})
	found := g.at(requestPath(target), "")
	if len(found) == 0 {
		return true
	}
	referrer := ""
	if i := bytes.IndexByte(rest, '"'); i >= 0 {
		if text, _, ok := quoted(rest[i:]); ok {
			referrer = g.otherSite(text)
		}
	}
	for _, n := range found {
		x := &g.list[n]
		if x.id != "" {
			continue // browsers do not send the fragment
		}
		x.concerns.Requests++
		if referrer == "" {
			continue
		}
		if x.referrers == nil {
			x.referrers = map[string]int{}
		}
		if _, known := x.referrers[referrer]; known || len(x.referrers) < maxReferrers {
			x.referrers[referrer]++
		}
	}
	return true
}

// quoted returns the text between the quotation mark that begins a line and the
// next one, with escapes as servers write them, and what follows.
func quoted(line []byte) (text, rest []byte, ok bool) {
	if len(line) == 0 || line[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return line[1:i], line[i+1:], true
		}
	}
	return nil, nil, false
}

// hasStatus reports whether a text begins with a status and a number of bytes.
func hasStatus(text []byte) bool {
	fields := bytes.Fields(text[:min(len(text), 40)])
	if len(fields) < 2 || len(fields[0]) != 3 {
		return false
	}
	for _, c := range fields[0] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// requestPath returns the path of the target of a request, which proxies write as
// a URL.
func requestPath(target []byte) string {
	text := string(target)
	if i := strings.Index(text, "://"); i > 0 {
		rest := text[i+3:]
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			return "/"
		}
		return rest[slash:]
	}
	return text
}

// otherSite returns a referrer that is a page of another site, "" for any other.
func (g *Gone) otherSite(referrer []byte) string {
	if len(referrer) > maxReferrer {
		return ""
	}
	u, err := weburl.Parse(string(referrer))
	if err != nil || u.Host() == "" || !strings.HasPrefix(u.Scheme(), "http") || u.Host() == hostOf(g.site.Authority()) {
		return ""
	}
	return string(referrer)
}

// hostOf returns a host without its port.
func hostOf(authority string) string {
	if i := strings.LastIndexByte(authority, ':'); i > 0 && !strings.HasSuffix(authority, "]") {
		return authority[:i]
	}
	return authority
}
