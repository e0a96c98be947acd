package host

import (
	"slices"
	"strings"
)

// webHostTables are the tables of testdata/hosts and the profile of each.
// Each excuse says why host and profile differ.
var webHostTables = []struct {
	table   string
	profile func() Profile
	// final compares where the redirects end, not each of them.
	final   bool
	excuses []excuse
}{
	{table: "cloudflare-pages", profile: builtin("cloudflare-pages"),
		excuses: []excuse{nonLatin, linkedFile, innerSlashes, encodedDots}},
	{table: "cloudflare-pages-app", profile: builtin("cloudflare-pages"),
		excuses: []excuse{nonLatin, linkedFile, innerSlashes, encodedDots}},
	{table: "netlify", profile: builtin("netlify"), excuses: []excuse{prettyURLs, undecoded, anyCase, assetSuffix}},
	{table: "firebase", profile: builtin("firebase"), excuses: []excuse{fails, keepsEscapes}},
	{table: "firebase-clean", profile: settings("firebase", nil), final: true, excuses: []excuse{fails, firebaseNames}},
	{table: "firebase-clean-slash", profile: settings("firebase", new(true)), final: true, excuses: []excuse{fails, firebaseNames}},
	{table: "firebase-clean-noslash", profile: settings("firebase", new(false)), final: true, excuses: []excuse{fails, firebaseNames}},
	{table: "vercel-clean", profile: settings("vercel", nil), final: true, excuses: []excuse{fails, vercelRaw, vercelNames}},
	{table: "vercel-clean-slash", profile: settings("vercel", new(true)), final: true, excuses: []excuse{fails, vercelRaw, vercelNames}},
	{table: "vercel-clean-noslash", profile: settings("vercel", new(false)), final: true, excuses: []excuse{fails, vercelRaw, vercelNames}},
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

// settings is a profile with clean URLs and a setting for trailing slashes.
func settings(name string, trailingSlash *bool) func() Profile {
	return func() Profile { return builtin(name)().WithURLs(true, trailingSlash) }
}

// oddNames excuses differences that only unusual names of the test docroot cause.
func oddNames(why string, names ...string) excuse {
	return excuse{why, func(_ *Host, row, got hostRow) bool {
		return row.request == "///" || slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(strings.TrimLeft(row.request, "/"), name) })
	}}
}

var fails = excuse{"the software fails (5xx): its file system or a header refuses; the profile predicts that nothing answers", func(_ *Host, row, got hostRow) bool {
	return row.status >= 500 && got.status >= 400 && got.status < 500
}}

var nonLatin = excuse{"the software fails (5xx) to redirect to names outside Latin-1", func(_ *Host, row, got hostRow) bool {
	return row.status >= 500 && strings.Contains(got.location, "%")
}}

var linkedFile = excuse{"the local server does not follow a symbolic link to a file; the profile predicts that the target answers", func(_ *Host, row, got hostRow) bool {
	path := strings.TrimLeft(row.request, "/")
	return strings.HasPrefix(path, "link.html") || strings.HasPrefix(path, "link") && !strings.HasPrefix(path, "link-dir")
}}

var innerSlashes = excuse{"a redirect keeps double slashes inside the path; the file is the same", func(_ *Host, row, got hostRow) bool {
	return strings.Contains(row.location, "//") && strings.ReplaceAll(row.location, "//", "/") == got.location
}}

var encodedDots = excuse{"encoded dot segments at the end are redirected to the directory; the profile predicts that it answers directly", func(_ *Host, row, got hostRow) bool {
	return strings.HasPrefix(row.request, "/dir%2F.") && row.location != "" && got.status == 200
}}

var prettyURLs = excuse{"the real host redirects to the one address of a page (Pretty URLs); its software, run locally, sends the file", func(s *Host, row, got hostRow) bool {
	return got.location != "" && row.status == 200 && predict(s, got.location).file == row.file
}}

var undecoded = excuse{"the local software does not decode percent escapes", func(_ *Host, row, got hostRow) bool {
	return strings.Contains(row.request, "%")
}}

var anyCase = excuse{"the real host ignores letter case; its software, run locally, asks the file system", func(s *Host, row, got hostRow) bool {
	path, _ := cutQuery(row.request)
	return row.status == 404 && (strings.ToLower(path) != path || strings.HasPrefix(path, "/case") || strings.HasPrefix(path, "/upper") || strings.HasPrefix(path, "/mixed"))
}}

var assetSuffix = excuse{"the local software does not look for a page or index file if the path ends like an asset (.css, .html)", func(_ *Host, row, got hostRow) bool {
	path, _ := cutQuery(row.request)
	return row.status == 404 && (strings.HasSuffix(path, ".css") || strings.HasSuffix(path, ".html"))
}}

var keepsEscapes = excuse{"a redirect keeps the request's own spelling", func(_ *Host, row, got hostRow) bool {
	return row.location != "" && (strings.EqualFold(row.location, got.location) || row.location == "/%64ir/" || row.location == "/dir/?")
}}

var indexListing = excuse{"a directory called index.html makes it list its parent", func(_ *Host, row, got hostRow) bool {
	return strings.Contains(row.request, "index-is-dir")
}}

var relativeRedirect = excuse{"its redirects are relative, so that an encoded slash leads the browser to another path", func(_ *Host, row, got hostRow) bool {
	return strings.Contains(row.request, "%2F") && row.location != "" && got.location != ""
}}

var rawBytes = excuse{"its header drops a space at the end and bytes that are not UTF-8", func(_ *Host, row, got hostRow) bool {
	return strings.HasPrefix(row.request, "/space%20/") || strings.HasPrefix(row.request, "/caf%E9")
}}

var leadingSlash = excuse{"the emulator drops an encoded slash at the start; S3 makes it part of the key", func(_ *Host, row, got hostRow) bool {
	return strings.HasPrefix(row.request, "/%2F")
}}

var firebaseNames = oddNames("a file beside page.html with the same address, a page called index, an encoded dot or letter of .html or index, two slashes at the end",
	"twin", "double.html", ".hidden", "...html", "index", "404", "dir/index", "link-dir/index", "beside/index", "beside//", "page//", "page%2", "dir/%69ndex")

var vercelRaw = oddNames("its redirects drop a ? or # of a name; it fails on names that are not ASCII", "hash%23", "quest%3F", "%23hash", "%C3%A9", "%c3%a9", "e%CC%81")

var vercelNames = oddNames("a file beside page.html with the same address, a directory called like a page, two slashes at the end", "twin", "double.html", ".hidden", "...html", "named.html",
	"index-is-dir", ".html", "dir/.html", "page//", "beside//", "dir//", "dir%2F")
