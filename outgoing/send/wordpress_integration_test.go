//go:build integration && linux

package send

import (
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

var update = flag.Bool("update", false, "record what WordPress answers")

// sources are the pages that link to the blog.
type sources struct {
	mu    sync.Mutex
	pages map[string]string
}

func (s *sources) set(path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = text
}

func (s *sources) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	text, ok := s.pages[r.URL.Path]
	s.mu.Unlock()
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case strings.HasPrefix(text, "/"):
		http.Redirect(w, r, text, http.StatusMovedPermanently)
	default:
		fmt.Fprint(w, text)
	}
}

// TestWordPress sends to Debian's WordPress, an independent receiver: PB-36 to
// PB-49. First as it is installed, then with the codes that it hides.
func TestWordPress(t *testing.T) {
	pages := &sources{pages: map[string]string{}}
	site := testkit.StartWordPress(t, pages)
	client := client()
	sender := NewPingback(client, PingbackOptions{})
	post, other, closed := site.Post("Open", true), site.Post("Other", true), site.Post("Closed", false)

	good := func(title, target string) string {
		return fmt.Sprintf("<!DOCTYPE html><title>%s</title><p>%[1]s links to <a href=\"%s\">the post</a> here.", title, html.EscapeString(target))
	}
	pages.set("/src/first", good("First", post))
	pages.set("/src/second", good("Second", post))
	pages.set("/src/nolink", good("No link", "http://elsewhere.example/"))
	pages.set("/src/closed", good("Closed", closed))
	pages.set("/src/empty", "")
	pages.set("/src/notitle", strings.Replace(good("x", post), "<title>x</title>", "", 1))
	pages.set("/src/same", good("First", post)) // the title and words of another page

	endpoint := func(target string) outgoing.Endpoint {
		t.Helper()
		e := testkit.Must(sender.Discover(t.Context(), outgoing.NewTarget(client, target)))(t)
		return e
	}
	want := outgoing.Endpoint{URL: site.URL + "/xmlrpc.php", Via: "X-Pingback header"}
	if e := endpoint(post); e != want {
		t.Fatalf("endpoint %+v, want %+v", e, want)
	}
	if e := endpoint(closed); e.URL != "" {
		t.Errorf("closed post has endpoint %+v", e)
	}
	// expect sends a notice, compares its outcome with the expected one, and
	// records the response for the unit tests.
	expect := func(name, source, target string, state ledger.State, code int, says string) outgoing.Outcome {
		t.Helper()
		o := sender.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: site.URL + source, Target: target}, Event: ledger.Added}, want)
		if o.State != state || o.Status != 200 || (o.Fault == nil) != (code == success) || o.Fault != nil && *o.Fault != code || !strings.Contains(o.Message, says) {
			t.Errorf("%s: %s, want %s %d %q\n%s", name, describe(o), state, code, says, site.Last().Response)
		}
		t.Logf("%-24s %s", name, describe(o))
		record(t, site, name)
		return o
	}

	// As installed.
	expect("registered", "/src/first", post, ledger.Done, success, "registered. Keep the web talking! :-)")
	expect("fault-48", "/src/first", post, ledger.Done, 48, "already has this pingback")
	flooded := expect("fault-429", "/src/second", post, ledger.Retry, 429, "every 15 seconds")
	expect("masked-no-link", "/src/nolink", post, ledger.Permanent, 0, "no link to "+post)
	expect("masked-no-title", "/src/notitle", post, ledger.Permanent, 0, "no <title>")
	expect("masked-closed", "/src/closed", closed, ledger.Retry, 0, "refused without a reason, as WordPress does")
	// After the wait that the outcome asks for, by the clock of the database.
	if flooded.After != 16*time.Second {
		t.Errorf("wait %v", flooded.After)
	}
	site.PHP(fmt.Sprintf(`global $wpdb; $wpdb->query("UPDATE $wpdb->comments SET comment_date_gmt = DATE_SUB(comment_date_gmt, INTERVAL %d SECOND)");`, int(flooded.After.Seconds())))
	expect("registered-later", "/src/second", post, ledger.Done, success, "registered.")
	// Both are listed, though not shown before they are approved.
	if got, want := pingbacks(t, client, site.URL, post), []string{site.URL + "/src/first", site.URL + "/src/second"}; !slices.Equal(got, want) {
		t.Errorf("getPingbacks: %q, want %q", got, want)
	}

	// With the codes of the specification.
	site.Plugin("codes", `remove_filter('xmlrpc_pingback_error', 'xmlrpc_pingback_error'); add_filter('comment_flood_filter', '__return_false');`)
	expect("fault-16", "/src/empty", post, ledger.Retry, 16, "could not fetch the source page")
	expect("fault-17", "/src/nolink", post, ledger.Permanent, 17, "no link to "+post)
	expect("fault-32", "/src/notitle", post, ledger.Permanent, 32, "no <title>")
	expect("fault-33", "/src/closed", closed, ledger.Permanent, 33, "does not accept pingbacks")
	expect("fault-33-missing", "/src/first", site.URL+"/?p=9999", ledger.Permanent, 33, "does not accept pingbacks")
	expect("fault-409", "/src/same", post, ledger.Permanent, 409, "same text")
	expect("fault-0", post[len(site.URL):], post, ledger.Retry, 0, "cannot both point to the same resource")
	prechecks(t, site, pages, sender, client, other)

	corpus(t, site, other)

	site.Plugin("hardened", `add_filter('xmlrpc_methods', function ($m) { unset($m['pingback.ping']); return $m; });`)
	expect("fault-32601", "/src/first", post, ledger.Permanent, -32601, "switched off")
}

func describe(o outgoing.Outcome) string {
	if o.Fault != nil {
		return fmt.Sprintf("%s, fault %d, after %v: %s", o.State, *o.Fault, o.After, o.Message)
	}
	return fmt.Sprintf("%s, after %v: %s", o.State, o.After, o.Message)
}

// prechecks compares [FetchProblems] with WordPress: for each page, it must
// predict the response.
func prechecks(t *testing.T, site *testkit.WordPress, pages *sources, sender *Pingback, client *outgoing.Client, target string) {
	target += "&amp=1" // an address with an ampersand
	written := html.EscapeString(target)
	link := `<a href="` + written + `">text</a>`
	late := strings.Repeat("<p>filler</p>\n", 11000)
	// %s is a title of the page's own; code is the first problem, "" for none.
	cases := []struct {
		name, page string
		code       ProblemCode
	}{
		{"plain", "<title>%s</title><p>a " + link + " b", ""},
		{"single-quotes", "<title>%s</title><p><a href='" + written + "'>text</a>", ""},
		{"unquoted", "<title>%s</title><p><a href=" + written + ">text</a>", ""},
		{"further-attributes", `<title>%s</title><p><a class="x" href="` + written + `" rel="nofollow">text</a>`, ""},
		{"emphasis", `<title>%s</title><p><a href="` + written + `"><em>te</em>xt</a>`, ""},
		{"over-lines", "<title>\n%s\n</title>\n<p><a\n  href=\"" + written + "\"\n>some\ntext</a>", ""},
		{"bad-then-good", `<title>%s</title><p><a href="` + written + `"><img src="x"></a> and ` + link, ""},
		{"title-in-upper-case", "<TITLE>%s</TITLE><p>" + link, ""},
		{"style-before", "<title>%s</title><style>a > b { c: '<' }</style><script>if (a < b) x = '<a>'</script><p>" + link, ""},
		{"comment-before", "<title>%s</title><!-- <a href=x> isn't > here --><p>" + link, ""},
		{"encoded-quote", `<title>%s</title><p title="a > b">` + link, ""},
		{"no-title", "<p>%s " + link, NoTitle},
		{"title-with-attribute", `<title lang="en">%s</title><p>` + link, NoTitle},
		{"empty-title", "<title></title><p>%s " + link, NoTitle},
		{"late-title", late + "<title>%s</title>" + link, NoTitle},
		{"no-link", "<title>%s</title><p>" + written, NoLink},
		{"link-in-comment", "<title>%s</title><!-- " + link + " -->", NoLink},
		{"link-in-script", "<title>%s</title><script>'" + link + "'</script>", NoLink},
		{"late-link", "<title>%s</title>" + late + link, LinkLate},
		{"picture", `<title>%s</title><p><a href="` + written + `"><img src="x" alt="text"></a>`, LinkText},
		{"heading", `<title>%s</title><p><a href="` + written + `"><h2>text</h2></a>`, LinkText},
		{"list", `<title>%s</title><a href="` + written + `"><ul><li>text</li></ul></a>`, LinkText},
		{"empty-link", `<title>%s</title><p><a href="` + written + `"></a>`, LinkText},
		{"greater-than", `<title>%s</title><p><a href="` + written + `">a > b</a>`, LinkText},
		{"minified", `<title>%s</title><p><a href="` + target + `">text</a>`, LinkBytes},
		{"numeric", `<title>%s</title><p><a href="` + strings.ReplaceAll(target, "&", "&#38;") + `">text</a>`, LinkBytes},
		{"without-scheme", `<title>%s</title><p><a href="` + strings.TrimPrefix(written, "http:") + `">text</a>`, LinkBytes},
		{"upper-case", `<title>%s</title><p><A HREF="` + written + `">text</A>`, LinkBytes},
		{"unclosed-script", "<title>%s</title><style>/* </p> */<p>" + link + "</style>" + link + "<script>", ""},
		{"script-without-end", "<title>%s</title><script>'</script >'</SCRIPT ><p>" + link + "<script></script>", LinkHidden},
		{"redirect", "/src/first", Redirected},
	}
	var wait sync.WaitGroup
	slots := make(chan bool, 4) // as many as PHP has processes
	for _, test := range cases {
		wait.Go(func() {
			slots <- true
			defer func() { <-slots }()
			address := site.URL + "/src/" + test.name
			text := test.page
			if !strings.HasPrefix(text, "/") {
				text = strings.Replace(text, "%s", test.name, 1)
			}
			pages.set("/src/"+test.name, text)
			problems, err := FetchProblems(t.Context(), client, address, target)
			if err != nil {
				t.Error(err)
				return
			}
			problems = ProblemsFor(ledger.Pingback, problems)
			var code ProblemCode
			if len(problems) > 0 {
				code = problems[0].Code
			}
			if code != test.code {
				t.Errorf("%s: found %q, want %q", test.name, code, test.code)
			}
			o := sender.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: address, Target: target}}, outgoing.Endpoint{URL: site.URL + "/xmlrpc.php"})
			if registered := o.State == ledger.Done && o.Fault == nil; registered != (len(problems) == 0) {
				t.Errorf("%s: predicted %+v, but %s", test.name, problems, describe(o))
			}
		})
	}
	wait.Wait()
}

// pingbacks returns the sources that the blog has for a post.
func pingbacks(t *testing.T, client outgoing.Doer, blog, post string) []string {
	t.Helper()
	call := `<?xml version="1.0"?><methodCall><methodName>pingback.extensions.getPingbacks</methodName><params><param><value><string>` +
		html.EscapeString(post) + `</string></value></param></params></methodCall>`
	resp, err := client.Do(t.Context(), outgoing.Request{Method: "POST", URL: blog + "/xmlrpc.php", Header: http.Header{"Content-Type": {"text/xml"}}, Body: []byte(call)})
	testkit.Check(t, err)
	root, err := parseResponse(data.MessageText(resp.Body, "", document(), ""), true)
	if err != nil {
		t.Fatalf("%v\n%s", err, resp.Body)
	}
	var found []string
	for _, n := range root.find("string") {
		found = append(found, n.all())
	}
	slices.Sort(found)
	return found
}

// corpus compares the rules of WordPress here with WordPress's own code on the
// pages of Python's documentation, with some of their links as targets. WordPress
// reads each page from a file. It takes the target as one of its posts and the page
// as one on its own host, which it does not look up.
func corpus(t *testing.T, site *testkit.WordPress, post string) {
	t.Helper()
	dir := os.Getenv("SITELINK_CORPORA")
	if dir == "" {
		t.Log("SITELINK_CORPORA is not set: no corpus")
		return
	}
	dir = path.Join(dir, "python3.11-doc/usr/share/doc/python3.11/html")
	type question struct {
		File   string `json:"file"`
		Target string `json:"target"`
	}
	var questions []question
	href := regexp.MustCompile(`<a [^>]*href="(https?://[^"]+)"`)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".html") || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		links := href.FindAllSubmatch(text, -1)
		for i := 0; i < len(links) && len(questions) < 400; i += max(1, len(links)/2) {
			questions = append(questions, question{name, html.UnescapeString(string(links[i][1]))})
		}
		return nil
	})
	if err != nil || len(questions) < 100 {
		t.Fatalf("%d questions, %v", len(questions), err)
	}
	asked := testkit.Must(json.Marshal(questions))(t)
	file := path.Join(t.TempDir(), "questions.json")
	testkit.Check(t, os.WriteFile(file, asked, 0o644))
	out := site.PHP(fmt.Sprintf(`
require_once ABSPATH . WPINC . '/class-IXR.php'; require_once ABSPATH . WPINC . '/class-wp-xmlrpc-server.php';
define('XMLRPC_REQUEST', true); $_SERVER['REMOTE_ADDR'] = '127.0.0.1'; $q = null; $n = 0; $codes = array();
add_filter('pre_option_home', function () use (&$q) { return 'http://' . parse_url($q['target'], PHP_URL_HOST); });
add_filter('url_to_postid', function ($u) use (&$q) { return strpos($u, '/a-source/') ? $u : 'http://' . parse_url($q['target'], PHP_URL_HOST) . '/?p=%s'; });
add_filter('pre_http_request', function () use (&$q) { return array('headers' => array(), 'body' => substr(file_get_contents($q['file']), 0, 153600), 'response' => array('code' => 200)); });
add_filter('preprocess_comment', function () { throw new Exception('linked'); });
$server = new wp_xmlrpc_server;
foreach (json_decode(file_get_contents('%s'), true) as $q) {
  try { $r = $server->pingback_ping(array('http://' . parse_url($q['target'], PHP_URL_HOST) . '/a-source/' . ++$n, $q['target'])); $codes[] = is_object($r) ? $r->code : 0; }
  catch (Exception $e) { $codes[] = -1; }
}
echo json_encode($codes);`, post[strings.Index(post, "=")+1:], file))
	var codes []int
	if err := json.Unmarshal([]byte(out), &codes); err != nil || len(codes) != len(questions) {
		t.Fatalf("%d answers, %v: %.300s", len(codes), err, out)
	}
	counts := map[int]int{}
	for i, q := range questions {
		text := testkit.Read(t, q.File)
		counts[codes[i]]++
		want := success
		for _, p := range ProblemsFor(ledger.Pingback, CheckSource("http://sources.example/a-source/", &outgoing.Response{Status: 200, Body: text}, q.Target)) {
			switch {
			case p.Code == NoTitle:
				want = faultNoTarget
			case want == success:
				want = faultNoLink
			}
		}
		if codes[i] != want {
			t.Errorf("%s with %s: WordPress %d, predicted %d", q.File, q.Target, codes[i], want)
		}
	}
	t.Logf("corpus: %d pages and links, by WordPress's code %v", len(questions), counts)
	if counts[success] == 0 || counts[faultNoLink] == 0 {
		t.Error("the corpus has one kind of page only")
	}
}

var ports = regexp.MustCompile(`localhost:\d+`)

// record saves the last call and its response.
func record(t *testing.T, site *testkit.WordPress, name string) {
	t.Helper()
	if !*update {
		return
	}
	last := site.Last()
	text := fmt.Sprintf("WordPress %s answers %s\n\n%s\n%s", site.Version, outgoing.StatusText(last.Status), last.Request, last.Response)
	text = ports.ReplaceAllString(text, "localhost")
	testkit.Check(t, os.WriteFile(path.Join("testdata", "wordpress", name+".txt"), []byte(text), 0o644))
}
