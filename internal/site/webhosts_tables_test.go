package site

import "strings"

// webHostTables are the tables of testdata/hosts and the profile of each.
// docs/profiles-web.md has a row for every excuse.
var webHostTables = []struct {
	table   string
	profile func() Profile
	excuses []excuse
}{
	{table: "cloudflare-pages", profile: builtin("cloudflare-pages"),
		excuses: []excuse{fails, nonLatin, linkedFile, innerSlashes, encodedDots}},
	{table: "cloudflare-pages-app", profile: builtin("cloudflare-pages"),
		excuses: []excuse{failsToFallback, nonLatin, linkedFile, innerSlashes, encodedDots}},
	{table: "netlify", profile: builtin("netlify"), excuses: []excuse{prettyURLs, undecoded, assetSuffix}},
	{table: "firebase", profile: builtin("firebase"), excuses: []excuse{fails, keepsEscapes}},
	{table: "hugo-server", profile: builtin("hugo-server"), excuses: []excuse{indexListing, relativeRedirect, rawBytes}},
	{table: "s3", profile: builtin("s3"), excuses: []excuse{fails, nonLatin, leadingSlash, encodedDots}},
}

func builtin(name string) func() Profile {
	return func() Profile {
		p, ok := ProfileByName(name)
		if !ok {
			panic("no profile " + name)
		}
		return p
	}
}

var fails = excuse{"the software fails (5xx): its file system or a header refuses; we say that nothing answers", func(_ *Site, row, got hostRow) bool {
	return row.status >= 500 && got.status >= 400 && got.status < 500
}}

var failsToFallback = excuse{"the software fails (5xx) on a path through a file; we say that the fallback answers", func(_ *Site, row, got hostRow) bool {
	return row.status >= 500 && got.file == "index.html"
}}

var nonLatin = excuse{"the software fails (5xx) to redirect to names outside Latin-1", func(_ *Site, row, got hostRow) bool {
	return row.status >= 500 && strings.Contains(got.location, "%")
}}

var linkedFile = excuse{"the server at home does not follow a symbolic link to a file; we say what lies behind it answers", func(_ *Site, row, got hostRow) bool {
	path := strings.TrimLeft(row.request, "/")
	return strings.HasPrefix(path, "link.html") || strings.HasPrefix(path, "link") && !strings.HasPrefix(path, "link-dir")
}}

var innerSlashes = excuse{"a redirect keeps double slashes inside of the path; the file is the same", func(_ *Site, row, got hostRow) bool {
	return strings.Contains(row.location, "//") && strings.ReplaceAll(row.location, "//", "/") == got.location
}}

var encodedDots = excuse{"encoded dot segments at the end are redirected to the directory; we say that it answers at once", func(_ *Site, row, got hostRow) bool {
	return strings.HasPrefix(row.request, "/dir%2F.") && row.location != "" && got.status == 200
}}

var prettyURLs = excuse{"the real host redirects to the one address of a page (Pretty URLs); its software at home sends the file", func(s *Site, row, got hostRow) bool {
	return got.location != "" && row.status == 200 && predict(s, got.location).file == row.file
}}

var undecoded = excuse{"the software at home does not decode percent escapes", func(_ *Site, row, got hostRow) bool {
	return strings.Contains(row.request, "%")
}}

var assetSuffix = excuse{"the software at home looks for no page or index file where the path ends like an asset (.css, .html)", func(_ *Site, row, got hostRow) bool {
	path, _ := cutQuery(row.request)
	return row.status == 404 && (strings.HasSuffix(path, ".css") || strings.HasSuffix(path, ".html"))
}}

var keepsEscapes = excuse{"a redirect keeps the request's own spelling", func(_ *Site, row, got hostRow) bool {
	return row.location != "" && (strings.EqualFold(row.location, got.location) || row.location == "/%64ir/" || row.location == "/dir/?")
}}

var indexListing = excuse{"a directory called index.html makes it list its parent", func(_ *Site, row, got hostRow) bool {
	return strings.Contains(row.request, "index-is-dir")
}}

var relativeRedirect = excuse{"its redirects are relative, so that an encoded slash leads the browser astray", func(_ *Site, row, got hostRow) bool {
	return strings.Contains(row.request, "%2F") && row.location != "" && got.location != ""
}}

var rawBytes = excuse{"a space at the end or a byte that is no UTF-8 is lost in its header", func(_ *Site, row, got hostRow) bool {
	return strings.HasPrefix(row.request, "/space%20/") || strings.HasPrefix(row.request, "/caf%E9")
}}

var leadingSlash = excuse{"the emulator drops an encoded slash at the start; S3 makes it part of the key", func(_ *Site, row, got hostRow) bool {
	return strings.HasPrefix(row.request, "/%2F")
}}
