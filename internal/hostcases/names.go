package hostcases

import "strings"

// oddNames are names that hold what URLs, shells or servers treat specially.
// Each is made as a file with suffix .html and as a directory with index page.
var oddNames = []string{
	"a b", "a+b", "a&b", "q?", "hash#", "semi;colon", "comma,", "colon:x", "quote'", `dq"`, "lt<gt>",
	"pipe|", "caret^", "back`tick", "brace{}", "br[ack]", "tilde~", "dollar$", "at@", "eq=", "star*",
	"excl!", "paren()", `back\slash`, "operator%", "%41", "%2e%2e", "100%", "%zz", "%", "üñí", "e\u0301nfd",
	"énfc", "日本", "caf\xe9-latin1", "raw\x80", "\xff", "\xc0\xaf", "\xed\xa0\x80", "soft\u00adhyphen",
	"bom\ufeff", "ta\tb", "new\nline", "cr\rx", "del\x7f", "\x01", "esc\x1b", " lead", "trail ", "dot.",
	"..name", "...", "x..y", "--", "~home", "index",
}

// plainFiles are the other files of the path docroot. A name that ends in /
// is an empty directory.
var plainFiles = []string{
	"index.html", "plain.html", "noext", "page.shtml", "page.var", "x.php", "x.cgi", "archive.tar.gz",
	"page.html.en", "page.html.bak", "page.html~", "style.css", "data.json", "UPPER.HTML", "Mixed.Html", "clean.html", "clean",
	".htaccess", ".hta.html", ".html", ".hidden", ".well-known/security.txt", ".dir/index.html", ".git/config",
	"with-index/index.html", "with-index/sub/index.html", "with-index/a.html", "Case-Dir/index.html",
	"both", "both.html", "bothdir/index.html", "bothdir.html",
	"no-index/a.txt", "no-index/inner/b.html", "empty-dir/",
	"with-txt/index.txt", "with-htm/index.htm", "with-php/index.php", "with-default/default.html", "index-case/Index.HTML",
	"index-is-dir/index.html/index.html", "index-is-empty-dir/index.html/", "index-unreadable/index.html",
	"unreadable.html", "no-list/index.html", "no-list/a.html", "no-list-no-index/a.html",
	"unreadable-dir/index.html", "unreadable-dir/a.html", "no-search/index.html", "no-search/a.html",
	"txt-broken/index.txt", "txt-dir/index.html/", "txt-dir/index.txt", "txt-unreadable/index.html", "txt-unreadable/index.txt",
	"txt-unlistable/index.txt", ".ht", ".ht-dir/index.html", ".ht-dir/a.html", "no-index/.htx",
	"icons/mine.png", "javascript/x.js", "404.html", "_redirects", "robots.txt", "favicon.ico",
	strings.Repeat("n", 250) + ".html", strings.Repeat("m", 255), strings.Repeat("d", 255) + "/index.html",
}

// symlinks of the path docroot, name to destination.
var symlinks = [][2]string{
	{"link.html", "plain.html"}, {"link-dir", "with-index"}, {"link-noindex", "no-index"},
	{"broken.html", "nowhere.html"}, {"broken-dir", "nowhere/"}, {"broken-index/index.html", "nowhere"},
	{"loop.html", "loop.html"}, {"loop-a", "loop-b"}, {"loop-b", "loop-a"}, {"loop-index/index.html", "index.html"},
	{"self", "."}, {"up", ".."}, {"outside-link.html", "../outside/out.html"}, {"outside-dir", "../outside"},
	{"outside-broken.html", "../outside/gone.html"}, {"outside-noindex", "../outside/no-index"},
	{"link-unreadable.html", "unreadable.html"}, {"link-into-unreadable.html", "unreadable-dir/a.html"},
	{"index-link/index.html", "../plain.html"}, {"index-link-out/index.html", "../../outside/out.html"},
	{"index-link-dir/index.html", "../with-index"}, {"link-slash.html", "plain.html/"}, {"dev-null.html", "/dev/null"},
	{"through-file.html", "plain.html/x"}, {"txt-broken/index.html", "nowhere"}, {"ht-link.html", ".ht"}, {".ht-link", "plain.html"},
	{"index-ht/index.html", "../.ht"}, {"index-out-dir/index.html", "../../outside"}, {"index-out-empty/index.html", "../../outside/empty"},
	{"index-device/index.html", "/dev/null"},
}

// chainLength is the longest chain of symbolic links: two more than the 40
// that Linux follows.
const chainLength = 42

// deepDirs is the depth of the nested directory deep/d/d/...
const deepDirs = 1000

// tooDeep are the directories of a path longer than Linux's 4,096 bytes.
var tooDeep = strings.Split(strings.Repeat(strings.Repeat("p", 250)+"/", 17), "/")[:17]
