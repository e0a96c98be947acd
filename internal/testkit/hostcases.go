package testkit

// This file has the path edge cases for measuring hosts: a docroot with
// unusual files, links to request from it, and a table of servers' answers. Only
// tests use it: those that send the requests to servers, and those that compare
// sitelink's predictions with the recorded answers.
//
// It does not depend on how sitelink reads a path: the docroot, the links
// and the answers are facts about hosts.

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// HostPage is the file of the docroot that a test writes the links to. It does not
// exist until then.
const HostPage = "links.html"

// HostCase is one link of the page [HostPage].
type HostCase struct {
	// Href is the link as written on the page.
	Href string
	// Target is the request that a browser makes for it: path and query.
	Target string
	// Hangs is set if some server never answers the request.
	Hangs bool
}

// HostKey names a request in messages and tables: the request itself, or its start,
// its end and its length if it is long.
func HostKey(target string) string {
	const most = 120
	if len(target) <= most {
		return target
	}
	return fmt.Sprintf("%s...%s(%d)", target[:most/2], target[len(target)-most/4:], len(target))
}

// normalised are links that the URL parser changes before the request, each with
// the resulting request.
var normalised = [][2]string{
	{"", "/links.html"}, {"?q=1", "/links.html?q=1"}, {"#x", "/links.html"}, {"plain.html", "/plain.html"},
	{"./plain.html", "/plain.html"}, {"../plain.html", "/plain.html"}, {"/../../plain.html", "/plain.html"},
	{"/with-index/../plain.html", "/plain.html"}, {"/missing/../plain.html", "/plain.html"}, {"/plain.html/../noext", "/noext"},
	{"/with-index/%2e%2e/plain.html", "/plain.html"}, {"/with-index/.%2E/plain.html", "/plain.html"}, {"/%2e/plain.html", "/plain.html"},
	{"/with-index/..", "/"}, {"/with-index/.", "/with-index/"}, {"/with-index/%2e", "/with-index/"}, {".", "/"}, {"..", "/"},
	{`/with-index\index.html`, "/with-index/index.html"}, {`\plain.html`, "/plain.html"}, {`with-index\..\plain.html`, "/plain.html"},
	{"  /plain.html\n", "/plain.html"}, {"/pl\nain\t.html", "/plain.html"}, {"/plain.html ?q", "/plain.html%20?q"},
	{"/a b.html", "/a%20b.html"}, {`/dq".html`, "/dq%22.html"}, {"/lt<gt>.html", "/lt%3Cgt%3E.html"}, {"/back`tick.html", "/back%60tick.html"},
	{"/brace{}.html", "/brace%7B%7D.html"}, {"/üñí.html", "/%C3%BC%C3%B1%C3%AD.html"}, {"/日本-dir", "/%E6%97%A5%E6%9C%AC-dir"},
	{"/\u0001.html", "/%01.html"}, {"/del\u007f.html", "/del%7F.html"},
	{"/.//plain.html", "//plain.html"}, {"/..//with-index", "//with-index"}, {"/.///with-index/", "///with-index/"}, {"/.//", "//"},
	{"/.//plain.html/", "//plain.html/"}, {"/.//missing", "//missing"}, {"/.//no-index", "//no-index"},
	{"/plain.html?a b\"<>'", "/plain.html?a%20b%22%3C%3E%27"}, {"/plain.html?ü", "/plain.html?%C3%BC"},
	{"/plain.html?a#b?c", "/plain.html?a"}, {"/plain.html?#", "/plain.html?"}, {"/with-index?#", "/with-index?"},
}

// verbatim are links that the URL parser does not change.
var verbatim = []string{
	"/", "/?q", "/missing", "/missing/", "/missing/x/", "/missing.html", "/missing.html/", "/index.html", "/index.html/",
	"/empty.html", "/EMPTY.html", "/Plain.html", "/plain.HTML", "/upper.html", "/UPPER.HTML", "/mixed.html", "/Mixed.Html",
	"/case-dir/", "/case-dir", "/Case-Dir", "/Case-Dir/INDEX.html", "/with-index/Index.html",
	"/plain", "/plain.htm", "/clean/", "/clean.html/", "/both/", "/both", "/bothdir", "/page", "/page.html", "/page.en",
	"/with-index//", "/with-index//index.html", "/with-index//a.html", "/with-index///sub", "/with-index//sub//", "/plain.html//",
	"/with-index/sub", "/with-index/sub/", "/with-index/sub/index.html", "/with-index/missing/", "/with-index/index.html/x",
	"/plain.html/x", "/plain.html/index.html", "/x.php/info", "/x.php?a=/b", "/noext/", "/empty.html/", "/unreadable.html/", "/unreadable.html/x",
	"/no-index/a.txt", "/no-index/inner", "/no-index/inner/", "/no-index/missing", "/empty-dir", "/empty-dir/", "/empty-dir/x",
	"/unreadable-dir/a.html", "/unreadable-dir/index.html", "/unreadable-dir/missing", "/unreadable-dir/x/", "/no-list/index.html", "/no-list/a.html",
	"/no-list/missing", "/no-list-no-index/a.html", "/no-list-no-index/missing", "/no-search/index.html", "/no-search/a.html", "/no-search/missing",
	"/plain.html?", "/plain.html?q=1", "/plain.html?a/../b", "/plain.html?%00", "/plain.html?%zz", "/plain.html?%", "/plain.html?a?b", "/plain.html?a=/x/",
	"/plain.html?%0A", "/plain.html?%FF", "/plain.html?//", "/with-index?%zz", "/with-index?a=b&c=d", "/with-index?a?b", "/with-index?%2F", "/with-index/?q=1", "/no-index?q", "/missing?q",
	"/pl%61in.html", "/%70lain.html", "/plain%2Ehtml", "/plain%2ehtml", "/%2570lain.html", "/with%2Dindex", "/with%2dindex/", "/%77ith-index/index%2Ehtml",
	"/with-index%2Findex.html", "/with-index%2findex.html", "/%2Fplain.html", "/%2F", "/%2F%2F", "/with-index%2F", "/with-index%2F%2F", "/with-index%2Fsub", "/with-index%2Fsub/",
	"/no-index%2F", "/missing%2F", "/missing%2Fx", "/plain.html%2F", "/plain.html%2Fx", "/with-index/%2F", "/with-index/%2Findex.html",
	"/with-index/..%2Fplain.html", "/missing/..%2Fplain.html", "/plain.html/..%2Fplain.html", "/with-index%2F..", "/with-index%2F.", "/with-index%2F..%2Fplain.html",
	"/with-index%2F../plain.html", "/..%2Fplain.html", "/..%2F..%2Fplain.html", "/%2e%2e%2f", "/%2e%2e%2fplain.html", "/..%2Foutside/out.html", "/..%2Foutside%2Fout.html",
	"/with-index/..%2F..%2Fplain.html", "/with-index/.%2Findex.html", "/.%2Fplain.html", "/with-index/%2e%2e%2F", "/with-index/..%2F", "/..%2F", "/.%2F", "/..%2e", "/...%2F",
	"/..%5Cplain.html", "/%5Cplain.html", "/with-index%5Cindex.html", "/with-index%5C", "/back%5Cslash.html", "/with-index/..%5Cplain.html",
	"/plain.html%00", "/%00", "/missing%00/..%2Fplain.html", "/plain.html%00%zz", "/with-index%2F%zz", "/with-index%2F%00", "/plain.html%00.txt", "/with-index/%00", "/with-index%00", "/plain%00.html", "/missing%00",
	"/plain.html%0A", "/plain.html%0D%0A", "/plain.html%09", "/plain.html%20", "/%20plain.html", "/plain.html.", "/plain.html%2E", "/plain.html%7F", "/plain.html%01", "/missing%1F",
	"/100%", "/%zz", "/%", "/%4", "/%g0", "/operator%.html", "/plain.html%", "/plain%.html", "/plain.html%4", "/%%41", "/%25%34%31.html", "/with-index%", "/with-index/%", "/with-index/%zz/",
	"/%FF.html", "/%C0%AFplain.html", "/%C0%AE%C0%AE/", "/%F5.html", "/caf%E9-latin1.html", "/caf%C3%A9-latin1.html", "/%C3.html", "/%ED%A0%80.html",
	"/enfd.html", "/e%CC%81nfc.html", "/%C3%A9nfd.html", "/%c3%a9nfc.html", "/%C3%A9nfc-dir", "/%c3%a9nfc-dir", "/e%CC%81nfd-dir",
	"/a+b.html", "/a&b.html", "/semi;colon.html", "/semi;colon-dir", "/comma,.html", "/colon:x.html", "/quote'.html", "/quote'-dir", "/pipe|.html", "/pipe|-dir",
	"/br[ack].html", "/br[ack]-dir", "/tilde~.html", "/dollar$.html", "/at@.html", "/eq=.html", "/star*.html", "/excl!.html", "/paren().html",
	"/a+b-dir", "/a&b-dir", "/at@-dir", "/eq=-dir", "/star*-dir", "/dollar$-dir", "/comma,-dir", "/colon:x-dir", "/plain.html;x", "/plain.html;", "/with-index;x/", "/a%20b-dir?x=%20",
	"/..name.html", "/..name-dir", "/....html", "/...-dir/", "/.hidden/", "/.dir", "/.git", "/.git/", "/.well-known", "/.well-known/", "/.", "/.hidden.html",
	"/link.html", "/link.html/", "/link-dir", "/link-dir/", "/link-dir/a.html", "/link-dir/sub", "/link-dir/missing", "/link-noindex", "/link-noindex/", "/link-noindex/a.txt",
	"/broken.html", "/broken.html/", "/broken-dir", "/broken-dir/", "/broken-dir/x",
	"/loop.html", "/loop.html/", "/loop-a", "/loop-a/", "/loop-a/x", "/loop-b",
	"/self", "/self/", "/self/plain.html", "/self/self/with-index", "/self/missing", "/up", "/up/", "/up/root/plain.html", "/up/outside/out.html", "/up/missing",
	"/outside-link.html", "/outside-dir", "/outside-dir/", "/outside-dir/out.html", "/outside-dir/missing", "/outside-dir/no-index", "/outside-dir/no-index/", "/outside-broken.html",
	"/outside-noindex", "/outside-noindex/", "/outside-noindex/x.txt", "/link-unreadable.html", "/link-into-unreadable.html", "/index-link", "/index-link/", "/index-link-out/",
	"/index-link-out/index.html", "/link-slash.html", "/through-file.html",

	"/index-unreadable", "/index-unreadable/", "/index-unreadable/index.html",
	"/fifo.html", "/fifo.html/", "/socket.html", "/socket.html/",
	"/with-index?%61%2D%7e", "/with-index?%2f%c3%bc", "/with-index?a%20b%26c=%3d", "/with-index?[x]|{}^`~!*();:@$,+", "/with-index?\\x",
	"/with-index?%", "/with-index?a%4", "/with-index?%2561", "/with-index??", "/with-index?%3f", "/with-index?a%0Ab", "/with-index?%C0%80", "/with-index?%E9",
	"//100%25-dir", "//%2541-dir", "//with-index///100%25-dir", "//q%3F-dir", "/x//ta%09b-dir", "//a%20b-dir",
	"/with-index/..%2Fq%3F-dir", "/with-index%2F..%2Fwith-index%2F..", "/%2F..", "/%2F.", "/..%2F.", "/.%2F..", "/%2F..%2F",
}

// crossed are unencoded paths that are requested with each of suffixes.
var crossed = []string{
	"plain.html", "noext", "with-index", "with-index/sub", "no-index", "empty-dir", "missing", "no-index/missing",
	"broken.html", "loop.html", "unreadable.html", "unreadable-dir", "unreadable-dir/a.html",
	"no-list-no-index", "no-search/a.html", "index-unreadable",
	"with-txt", "with-txt/index.txt", "txt-unreadable", "txt-unlistable",
	"link.html", "link-dir", "link-noindex", "link-unreadable.html", "link-into-unreadable.html", "index-link-out", "self",
	"outside-link.html", "outside-dir", "outside-noindex", "outside-dir/missing", "outside-dir/txt",
	"outside-dir/link", "outside-dir/empty", "socket.html",
	".ht", ".ht-missing", "no-index/.htx", "ht-link.html", "index-ht", "chain-41.html",
	"a b-dir", "q?-dir", "hash#-dir", "%41-dir", "100%-dir", "ta\tb-dir", "\x01-dir", "\xff-dir", "caf\xe9-latin1-dir",
	"semi;colon-dir", "back\\slash-dir", `dq"-dir`, "..name-dir", "üñí-dir", "-- ", "new\nline.html", "\xc0\xaf.html",
	strings.Repeat("m", 255), strings.Repeat("m", 256),
}

// suffixes follow the paths of crossed.
var suffixes = []string{
	"", "/", "//", "?q=1", "/?q=1", "/x", "/x/", "/index.html", "/index.html/", "%2F", "%2f", "%2F%2F", "%2Fx", "%2Findex.html", "/%2F",
	"/..%2Fplain.html", "/..%2F..%2Fplain.html", "%00", "/%00", "%01", "/%01", "%7F", "%FF", "/%FF", "%C0%AF",
	"%zz", "/%zz", "%", "%5C", "/%5C", ".", "%20", "/.htx", "%2F.htx", "/.htx/x", "?", "/?", "?%01", "?%zz", "?a=%2F", ";x", ";x/",
}

// HostCases returns every link of the page, once.
func HostCases() []HostCase {
	var cases []HostCase
	seen := map[string]bool{}
	add := func(href string) {
		if !seen[href] {
			seen[href] = true
			c := HostCase{Href: href, Target: href, Hangs: strings.Contains(href, "fifo")}
			if strings.HasPrefix(href, "//") { // otherwise the next segment is a host
				c.Href = "/." + href
			}
			cases = append(cases, c)
		}
	}
	for _, n := range normalised {
		cases = append(cases, HostCase{Href: n[0], Target: n[1]})
	}
	for _, href := range verbatim {
		if href != "/." { // changed by the parser, see normalised
			add(href)
		}
	}
	for _, name := range plainFiles {
		for dir := name; ; {
			add("/" + EscapePath(dir))
			i := strings.LastIndexByte(strings.TrimSuffix(dir, "/"), '/')
			if i < 0 {
				break
			}
			add("/" + EscapePath(dir[:i]))
			add("/" + EscapePath(dir[:i]) + "/")
			dir = dir[:i]
		}
	}
	for _, name := range oddNames {
		e := "/" + EscapePath(name)
		add(e + ".html")
		add(e + ".html/")
		add(e + ".html?q=1")
		add(e + "-dir")
		add(e + "-dir/")
		add(e + "-dir/index.html")
		add(e + "-dir?q=1")
		add(e)
	}
	for _, n := range []int{1, 2, 39, 40, 41, 42} {
		add(fmt.Sprintf("/chain-%d.html", n))
		add("/" + strings.Repeat("self/", n) + "plain.html")
		add("/" + strings.Repeat("self/", n-1) + "self")
	}
	deep := "/deep/" + strings.Repeat("d/", deepDirs)
	tooLong := "/" + strings.Join(tooDeep, "/")
	for _, href := range []string{
		deep, deep + "x.html", deep + "y.html", strings.TrimSuffix(deep, "/"),
		"/" + strings.Join(tooDeep[:15], "/"), "/" + strings.Join(tooDeep[:15], "/") + "/", tooLong, tooLong + "/x.html",
		"/" + strings.Repeat("m", 256), "/" + strings.Repeat("m", 254), "/" + strings.Repeat("m", 256) + "/x", "/" + strings.Repeat("d", 255) + "/missing",
		"/plain.html" + strings.Repeat("/x", 2500), "/with-index" + strings.Repeat("/x", 2500), "/missing" + strings.Repeat("/x", 2500),
		"/plain.html?" + strings.Repeat("q", 4000), "/plain.html?" + strings.Repeat("q", 8000), "/with-index?" + strings.Repeat("q", 4000),
		"/missing/" + strings.Repeat("%20", 2722), "/" + strings.Repeat("long/", 1800), "/missing?" + strings.Repeat("q", 9000),
	} {
		add(href)
	}
	for _, base := range crossed {
		for _, suffix := range suffixes {
			add("/" + EscapePath(base) + suffix)
		}
	}
	return cases
}

// EscapePath percent-encodes everything except unreserved characters and slashes.
func EscapePath(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// RandomHostCases returns n distinct random links: names of the docroot joined with
// characters and segments that servers treat specially. The same seed gives the
// same links.
func RandomHostCases(seed uint64, n int) []HostCase {
	r := rand.New(rand.NewPCG(seed, 0))
	names := randomNames()
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	between := []string{"/", "/", "/", "/", "/", "//", "%2F", "%2f", "/..%2F", "/.%2F", "%2F..%2F", "%2F../", "%5C", "/%2F", "%2F%2F", ";", "%00", "%3F", "%23"}
	letters := []string{"%2e", "%2E%2e", "%61", "%20", "%25", "%zz", "%C3%A9", "%c3", "%F5", "%1F", "%7f", "~", "+", "'", "A"}
	var cases []HostCase
	seen := map[string]bool{}
	for len(cases) < n {
		var b strings.Builder
		b.WriteString("/")
		for i := range 1 + r.IntN(3) {
			if i > 0 {
				b.WriteString(pick(between))
			}
			name := pick(names)
			if r.IntN(12) == 0 {
				at := r.IntN(len(name) + 1)
				name = EscapePath(name[:at]) + pick(letters) + EscapePath(name[at:])
			} else {
				name = EscapePath(name)
			}
			b.WriteString(name)
		}
		if r.IntN(2) == 0 {
			b.WriteString(pick(suffixes))
		}
		if href := b.String(); !seen[href] && plain(href) {
			seen[href] = true
			c := HostCase{Href: href, Target: href}
			if strings.HasPrefix(href, "//") {
				c.Href = "/." + href
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// randomNames returns names of the docroot; names with many edge cases are repeated.
func randomNames() []string {
	var names []string
	for _, name := range plainFiles {
		if len(name) < 100 {
			names = append(names, strings.Split(strings.TrimSuffix(name, "/"), "/")...)
		}
	}
	for _, name := range oddNames {
		names = append(names, name+".html", name+"-dir")
	}
	for _, link := range symlinks {
		names = append(names, strings.Split(link[0], "/")...)
	}
	for range 10 {
		names = append(names, "with-index", "no-index", "plain.html", "index.html", "self", "up", "outside-dir", "missing", "root", "outside")
	}
	return append(names, "socket.html", "chain-40.html", "chain-41.html", "deep", "d")
}

// plain reports whether the URL parser leaves href unchanged: it resolves dot
// segments, also encoded ones.
func plain(href string) bool {
	path, _, _ := strings.Cut(href, "?")
	for seg := range strings.SplitSeq(path[1:], "/") {
		switch strings.ReplaceAll(strings.ToLower(seg), "%2e", ".") {
		case ".", "..":
			return false
		}
	}
	return true
}

// oddNames are names with characters that URLs, shells or servers treat specially.
// For each there is a file with the suffix .html and a directory with an index page.
var oddNames = []string{
	"a b", "a+b", "a&b", "q?", "hash#", "semi;colon", "comma,", "colon:x", "quote'", `dq"`, "lt<gt>",
	"pipe|", "caret^", "back`tick", "brace{}", "br[ack]", "tilde~", "dollar$", "at@", "eq=", "star*",
	"excl!", "paren()", `back\slash`, "operator%", "%41", "%2e%2e", "100%", "%zz", "%", "üñí", "e\u0301nfd",
	"énfc", "日本", "caf\xe9-latin1", "raw\x80", "\xff", "\xc0\xaf", "\xed\xa0\x80", "soft\u00adhyphen",
	"bom\ufeff", "ta\tb", "new\nline", "cr\rx", "del\x7f", "\x01", "esc\x1b", " lead", "trail ", "dot.",
	"..name", "...", "x..y", "--", "~home", "index",
}

// plainFiles are the other files of the docroot. A name that ends in / is an empty
// directory.
var plainFiles = []string{
	"index.html", "plain.html", "noext", "page.shtml", "page.var", "x.php", "x.cgi", "archive.tar.gz",
	"page.html.en", "page.html.bak", "page.html~", "style.css", "data.json", "UPPER.HTML", "Mixed.Html", "clean.html", "clean",
	".htaccess", ".hta.html", ".html", ".hidden", ".well-known/security.txt", ".dir/index.html", ".git/config",
	"with-index/index.html", "with-index/sub/index.html", "with-index/a.html", "Case-Dir/index.html",
	"both", "both.html", "bothdir/index.html", "bothdir.html",
	"no-index/a.txt", "no-index/inner/b.html", "empty-dir/",
	"with-txt/index.txt", "with-htm/index.htm", "with-php/index.php", "with-default/default.html", "index-case/Index.HTML",
	"index-unreadable/index.html",
	"unreadable.html", "no-list/index.html", "no-list/a.html", "no-list-no-index/a.html",
	"unreadable-dir/index.html", "unreadable-dir/a.html", "no-search/index.html", "no-search/a.html",
	"txt-unreadable/index.html", "txt-unreadable/index.txt",
	"txt-unlistable/index.txt", ".ht", "no-index/.htx",
	"icons/mine.png", "javascript/x.js", "404.html", "_redirects", "robots.txt", "favicon.ico",
	strings.Repeat("n", 250) + ".html", strings.Repeat("m", 255), strings.Repeat("d", 255) + "/index.html",
}

// symlinks are the symbolic links of the docroot, name and target.
var symlinks = [][2]string{
	{"link.html", "plain.html"}, {"link-dir", "with-index"}, {"link-noindex", "no-index"},
	{"broken.html", "nowhere.html"}, {"broken-dir", "nowhere/"},
	{"loop.html", "loop.html"}, {"loop-a", "loop-b"}, {"loop-b", "loop-a"},
	{"self", "."}, {"up", ".."}, {"outside-link.html", "../outside/out.html"}, {"outside-dir", "../outside"},
	{"outside-broken.html", "../outside/gone.html"}, {"outside-noindex", "../outside/no-index"},
	{"link-unreadable.html", "unreadable.html"}, {"link-into-unreadable.html", "unreadable-dir/a.html"},
	{"index-link/index.html", "../plain.html"}, {"index-link-out/index.html", "../../outside/out.html"},
	{"link-slash.html", "plain.html/"},
	{"through-file.html", "plain.html/x"}, {"ht-link.html", ".ht"}, {".ht-link", "plain.html"},
	{"index-ht/index.html", "../.ht"},
}

// chainLength is the longest chain of symbolic links: two more than the 40
// that Linux follows.
const chainLength = 42

// deepDirs is the depth of the nested directory deep/d/d/...
const deepDirs = 1000

// tooDeep are the directories of a path longer than Linux's limit of 4,096 bytes.
var tooDeep = strings.Split(strings.Repeat(strings.Repeat("p", 250)+"/", 17), "/")[:17]
