package receive

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/export"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
)

func mustImport(t *testing.T, store incoming.Store, items iter.Seq2[ImportItem, error], opt ImportOptions) ImportReport {
	t.Helper()
	report := testkit.Must(ImportItems(t.Context(), store, items, opt))(t)
	return report
}

// dump returns what a store has, one line per mention.
func dump(t *testing.T, store incoming.Store) string {
	t.Helper()
	var b strings.Builder
	for m, err := range store.List(t.Context(), incoming.Filter{}) {
		testkit.Check(t, err)
		received := "-"
		if !m.Received.IsZero() {
			received = m.Received.Format(time.RFC3339)
		}
		fmt.Fprintf(&b, "%s %s %s > %s | %s | %s | %s %s | %s\n", m.Protocol, m.State, m.Source, m.Target, m.Title, m.Excerpt, m.Author.Name, m.Author.URL, received)
	}
	return b.String()
}

// whys returns why items were left out.
func whys(r ImportReport) string {
	var b strings.Builder
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "%s: %s\n", s.Where, s.Why)
	}
	return b.String()
}

func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

const jf2Feed = `{
  "type": "feed",
  "name": "Webmentions",
  "children": [
    {"type": "entry", "author": {"type": "card", "name": "Ann", "photo": "https://webmention.io/avatar/x", "url": "https://ann.example/"},
     "url": "https://ann.example/reply", "published": "2024-01-02T03:04:05+01:00", "wm-received": "2024-01-02T04:00:00Z", "wm-id": 900,
     "wm-source": "https://ann.example/reply", "wm-target": "https://our.example/post/", "wm-protocol": "webmention", "wm-property": "in-reply-to", "wm-private": false,
     "content": {"html": "<p>Nice <b>post</b><script>x</script></p>", "text": "Nice  post\u0000"}, "in-reply-to": "https://our.example/post/"},
    {"type": "entry", "author": {"type": "card", "name": "", "photo": "", "url": "javascript:alert(1)"}, "url": "https://social.example/1", "published": null,
     "wm-received": "2024-02-02T04:00:00Z", "wm-id": 901, "wm-source": "https://brid.gy/like/mastodon/1", "wm-target": "https://our.example/post/#x", "wm-protocol": "pingback",
     "name": "A title", "content": {"html": "<p>a &amp; b</p><style>p{}</style>"}},
    {"type": "entry", "wm-source": "https://p.example/", "wm-target": "https://our.example/", "wm-private": true},
    {"type": "entry", "wm-source": "ftp://p.example/", "wm-target": "https://our.example/"},
    {"type": "entry", "url": "https://only.example/"},
    {"type": "entry", "wm-source": "https://ANN.example:443/reply", "wm-target": "https://our.example/post/"},
    {"type": "entry", "wm-source": "https://else.example/", "wm-target": "https://elsewhere.example/"},
    "text"
  ]
}
{"children": [{"wm-source": "https://next.example/", "wm-target": "https://our.example/", "author": ["Bob"], "content": "c"}]}`

func TestJF2(t *testing.T) {
	store := incomingtest.NewStore(nil)
	opt := ImportOptions{Accept: func(target string) bool { return !strings.Contains(target, "elsewhere") }}
	report := mustImport(t, store, JF2(strings.NewReader(jf2Feed)), opt)
	if report.Recorded != 3 || report.Known != 0 {
		t.Errorf("%+v", report)
	}
	compare(t, "mentions", dump(t, store), `
webmention approved https://next.example/ > https://our.example/ |  | c | Bob  | -
webmention approved https://ann.example/reply > https://our.example/post/ |  | Nice post | Ann https://ann.example/ | 2024-01-02T04:00:00Z
pingback approved https://brid.gy/like/mastodon/1 > https://our.example/post/#x | A title | a & b |   | 2024-02-02T04:00:00Z`)
	compare(t, "left out", whys(report), `
entry 3: it is private
entry 4: URL "ftp://p.example/": neither http nor https
entry 5: it has no wm-source or no wm-target
entry 6: the list has the same source and target twice
entry 7: the target is not a page of this site
entry 8: it is not an entry of a feed`)

	// A repeated import changes nothing, also not what was decided meanwhile.
	for m := range store.List(t.Context(), incoming.Filter{Source: "ann.example"}) {
		if _, err := store.Update(t.Context(), m.ID, func(m *incoming.Mention) error { m.State = incoming.Refused; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	before := dump(t, store)
	if again := mustImport(t, store, JF2(strings.NewReader(jf2Feed)), opt); again.Recorded != 0 || again.Known != 3 || dump(t, store) != before {
		t.Errorf("again: %+v", again)
	}

	store = incomingtest.NewStore(nil)
	recheck := time.Unix(1800000000, 0)
	mustImport(t, store, JF2(strings.NewReader(jf2Feed)), ImportOptions{Recheck: recheck})
	for m := range store.List(t.Context(), incoming.Filter{}) {
		if !m.Due.Equal(recheck) || m.Verified.IsZero() {
			t.Errorf("to be verified again: %+v", m)
		}
	}
	for text, want := range map[string]string{
		`{"children": [{"type": "entry"}`:               "after entry 1: unexpected EOF",
		`{"links": [{"source": "https://a.example/"}]}`: "api/mentions.jf2",
		`{"children": {}}`:                              "the field children is not a list",
		`<html>`:                                        "invalid character",
		`"x"`:                                           "want an object or a list",
		`[{"wm-source": "https://a.example/"`:           "unexpected EOF",
	} {
		if _, err := ImportItems(t.Context(), store, JF2(strings.NewReader(text)), ImportOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestWebmentionIO: entries as helpers/formats.rb of webmention.io writes them, also for
// sites from before 2018, which have contents with a type and a value.
func TestWebmentionIO(t *testing.T) {
	const feed = `{"type":"feed","name":"Webmentions","children":[
{"type":"entry","author":{"type":"card","name":null,"photo":null,"url":null},"url":"https://a.example/1","published":"2017-03-01T10:00:00","wm-received":"2017-03-01T09:00:05Z","wm-id":1,
 "wm-source":"https://a.example/1","wm-target":"https://our.example/","wm-protocol":"webmention","content":{"content-type":"text/html","value":"<p>Old <i>html<\/i>"},"mention-of":"https://our.example/","wm-property":"mention-of","wm-private":false},
{"type":"entry","author":{"type":"card","name":"B","photo":"","url":"https://b.example/"},"url":"https://b.example/2","published":"2017-03-01T10:00:00+05:30","wm-received":"2017-03-02T09:00:05Z","wm-id":2,
 "wm-source":"https://b.example/2","wm-target":"https://our.example/","wm-protocol":"webmention","name":"Post","summary":{"content-type":"text/plain","value":"In 1 < 2 lines"},"like-of":"https://our.example/","wm-property":"like-of","wm-private":false},
{"type":"entry","author":{"type":"card","name":"C","photo":"","url":"https://c.example/"},"url":"https://c.example/3","published":null,"wm-received":"2017-03-03T09:00:05Z","wm-id":3,
 "wm-source":"https://c.example/3","wm-target":"https://our.example/","wm-protocol":null,"content":{"content-type":"text/plain","value":"Plain","text":"Plain"},"rsvp":"yes","in-reply-to":"https://our.example/","wm-property":"rsvp","wm-private":true}
]}`
	store := incomingtest.NewStore(nil)
	report := mustImport(t, store, JF2(strings.NewReader(feed)), ImportOptions{})
	compare(t, "mentions", dump(t, store), `
webmention approved https://a.example/1 > https://our.example/ |  | Old html |   | 2017-03-01T09:00:05Z
webmention approved https://b.example/2 > https://our.example/ | Post | In 1 < 2 lines | B https://b.example/ | 2017-03-02T09:00:05Z`)
	compare(t, "left out", whys(report), "entry 3: it is private")
}

// TestRoundTrip: what package export writes as JF2 can be imported.
func TestRoundTrip(t *testing.T) {
	first, second := incomingtest.NewStore(nil), incomingtest.NewStore(nil)
	first.Add(incoming.Mention{Protocol: incoming.Pingback, State: incoming.Approved, Source: "https://a.example/", Target: "https://our.example/p#x", Title: "T", Excerpt: "E", Lang: "de",
		Author: incoming.Author{Name: "N", URL: "https://n.example/"}, Received: time.Unix(1700000000, 0).UTC(), Verified: time.Unix(1700000001, 0).UTC()})
	dir := t.TempDir()
	testkit.Must(export.Write(t.Context(), first.List(t.Context(), export.Selection), dir, export.Options{Format: export.JF2}))(t)
	file := testkit.Must(os.Open(filepath.Join(dir, "pages", "p.json")))(t)
	defer file.Close()
	mustImport(t, second, JF2(file), ImportOptions{})
	compare(t, "after the round trip", dump(t, second), dump(t, first))
}

const wxr = `<?xml version="1.0" encoding="UTF-8" ?>
<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>Blog</title><link>https://our.example</link>
<item><title><![CDATA[Post]]></title><link>https://our.example/2024/01/post/</link>
<wp:comment><wp:comment_id>1</wp:comment_id><wp:comment_author><![CDATA[Their &#8220;title&#8221;]]></wp:comment_author><wp:comment_author_url>https://a.example/x</wp:comment_author_url>
<wp:comment_date>2024-01-02 04:00:00</wp:comment_date><wp:comment_date_gmt><![CDATA[2024-01-02 03:00:00]]></wp:comment_date_gmt>
<wp:comment_content><![CDATA[[&#8230;] a <strong>link</strong> [&#8230;]]]></wp:comment_content><wp:comment_approved>1</wp:comment_approved><wp:comment_type>pingback</wp:comment_type></wp:comment>
<wp:comment><wp:comment_id>2</wp:comment_id><wp:comment_author>Bob</wp:comment_author><wp:comment_author_url>https://bob.example/</wp:comment_author_url><wp:comment_date_gmt>2024-01-03 03:00:00</wp:comment_date_gmt>
<wp:comment_content>Reply</wp:comment_content><wp:comment_approved>0</wp:comment_approved><wp:comment_type>comment</wp:comment_type>
<wp:commentmeta><wp:meta_key>protocol</wp:meta_key><wp:meta_value>webmention</wp:meta_value></wp:commentmeta>
<wp:commentmeta><wp:meta_key>webmention_source_url</wp:meta_key><wp:meta_value>https://bob.example/reply</wp:meta_value></wp:commentmeta></wp:comment>
<wp:comment><wp:comment_id>3</wp:comment_id><wp:comment_author>Reader</wp:comment_author><wp:comment_approved>1</wp:comment_approved><wp:comment_type>comment</wp:comment_type></wp:comment>
<wp:comment><wp:comment_id>4</wp:comment_id><wp:comment_author_url>https://spam.example/</wp:comment_author_url><wp:comment_date_gmt>0000-00-00 00:00:00</wp:comment_date_gmt><wp:comment_approved>spam</wp:comment_approved><wp:comment_type>pingback</wp:comment_type></wp:comment>
<wp:comment><wp:comment_id>5</wp:comment_id><wp:comment_author_url>https://t.example/</wp:comment_author_url><wp:comment_approved>1</wp:comment_approved><wp:comment_type>trackback</wp:comment_type></wp:comment>
<wp:comment><wp:comment_id>6</wp:comment_id><wp:comment_author_url>https://u.example/</wp:comment_author_url><wp:comment_approved>trash</wp:comment_approved><wp:comment_type>pingback</wp:comment_type></wp:comment>
<wp:comment><wp:comment_id>7</wp:comment_id><wp:comment_author_url></wp:comment_author_url><wp:comment_approved>1</wp:comment_approved><wp:comment_type>pingback</wp:comment_type></wp:comment>
</item></channel></rss>`

func TestWordPress(t *testing.T) {
	store := incomingtest.NewStore(nil)
	report := mustImport(t, store, WordPress(strings.NewReader(wxr)), ImportOptions{})
	compare(t, "mentions", dump(t, store), `
pingback approved https://a.example/x > https://our.example/2024/01/post/ | Their “title” | […] a link […] |   | 2024-01-02T03:00:00Z
webmention held https://bob.example/reply > https://our.example/2024/01/post/ |  | Reply | Bob https://bob.example/ | 2024-01-03T03:00:00Z
pingback denied https://spam.example/ > https://our.example/2024/01/post/ |  |  |   | -`)
	compare(t, "left out", whys(report), `
comment 3: it is a comment that a reader typed
comment 5: a trackback proves no link
comment 6: it is in the trash
comment 7: URL "": not an absolute URL`)
	if again := mustImport(t, store, WordPress(strings.NewReader(wxr)), ImportOptions{}); again.Recorded != 0 || again.Known != 3 {
		t.Errorf("again: %+v", again)
	}
	for text, want := range map[string]string{"": "no element rss", "<html></html>": "no element rss", wxr[:len(wxr)/2]: "unexpected EOF"} {
		if _, err := ImportItems(t.Context(), store, WordPress(strings.NewReader(text)), ImportOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// makeWebmentiond makes a database.
func makeWebmentiond(t *testing.T, statements ...string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "a database?.sqlite")
	db := testkit.Must(sql.Open("sqlite", "file:"+strings.NewReplacer("?", "%3f", " ", "%20").Replace(file)))(t)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return file
}

// webmentiondSchema is the table of webmentiond as its seven migrations leave it: columns,
// types, defaults and keys are facts about its file. Its status is "new" at first.
const webmentiondSchema = `
	CREATE TABLE webmentions (
		id TEXT NOT NULL PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, created_at TEXT NOT NULL,
		status TEXT NOT NULL DEFAULT 'new',
		title TEXT NOT NULL DEFAULT '', verified_at TEXT NOT NULL DEFAULT '',
		content TEXT NOT NULL DEFAULT '', author_name TEXT NOT NULL DEFAULT '', type TEXT NOT NULL DEFAULT '',
		rsvp NOT NULL DEFAULT '');
	CREATE UNIQUE INDEX webmentions_source_target ON webmentions (source, target);
	CREATE TABLE url_policies (id INTEGER PRIMARY KEY AUTOINCREMENT, url_pattern TEXT, policy TEXT, weight INT);
	INSERT INTO url_policies (url_pattern, policy, weight) VALUES ('^https://spam', 'reject', 1)`

// row returns a statement that writes a row as webmentiond does: first as new, then with
// what it has found.
func row(id, source, created, status string) string {
	return fmt.Sprintf(`INSERT INTO webmentions (id, source, target, created_at) VALUES ('%s', '%s', 'https://our.example/', '%s');
		UPDATE webmentions SET status = '%[4]s' WHERE id = '%[1]s'`, id, source, created, status)
}

func TestWebmentiond(t *testing.T) {
	file := makeWebmentiond(t, webmentiondSchema,
		row("1", "https://a.example/", "2024-01-02T03:04:05Z", "approved"),
		`UPDATE webmentions SET title = 'T', verified_at = '2024-01-02T03:05:00Z', content = '<b>x</b>', author_name = 'Ann', type = 'rsvp', rsvp = 'yes'`,
		row("2", "https://b.example/", "2024-01-03T03:04:05Z", "verified"),
		row("3", "https://c.example/", "2024-01-04T03:04:05Z", "new"),
		row("4", "https://d.example/", "2024-01-05T03:04:05Z", "rejected"),
		row("5", "https://e.example/", "", "invalid"), row("6", "https://f.example/", "", "odd"))
	before := testkit.Read(t, file)
	store := incomingtest.NewStore(nil)
	report := mustImport(t, store, Webmentiond(t.Context(), file), ImportOptions{})
	compare(t, "mentions", dump(t, store), `
webmention approved https://a.example/ > https://our.example/ | T | x | Ann  | 2024-01-02T03:04:05Z
webmention held https://b.example/ > https://our.example/ |  |  |   | 2024-01-03T03:04:05Z
webmention queued https://c.example/ > https://our.example/ |  |  |   | 2024-01-04T03:04:05Z
webmention denied https://d.example/ > https://our.example/ |  |  |   | 2024-01-05T03:04:05Z`)
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database was changed, %v", err)
	}
	compare(t, "left out", whys(report), "webmention 5: webmentiond found no link\nwebmention 6: its status \"odd\" is not known")
	for m := range store.List(t.Context(), incoming.Filter{}) {
		if (m.State == incoming.Queued) == m.Due.IsZero() {
			t.Errorf("%s is due at %s", m.State, m.Due)
		}
	}

	old := makeWebmentiond(t, "create table webmentions (id text, source text, target text, created_at text, status text)", `insert into webmentions values ('1', 'https://a.example/', 'https://our.example/', '2020-01-02 03:04:05', 'approved')`)
	store = incomingtest.NewStore(nil)
	mustImport(t, store, Webmentiond(t.Context(), old), ImportOptions{})
	compare(t, "an old database", dump(t, store), "webmention approved https://a.example/ > https://our.example/ |  |  |   | 2020-01-02T03:04:05Z")

	other := makeWebmentiond(t, "create table x (y)")
	text := filepath.Join(t.TempDir(), "text")
	testkit.Check(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o666))
	missing := filepath.Join(t.TempDir(), "missing")
	for file, want := range map[string]string{other: "no table webmentions", text: "not a database", missing: "no such file", filepath.Dir(text): "it is not a file"} {
		if _, err := ImportItems(t.Context(), store, Webmentiond(t.Context(), file), ImportOptions{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("an import makes a database")
	}
}

// TestImportFails: an error names what failed, and the import can be repeated.
func TestImportFails(t *testing.T) {
	store := incomingtest.NewStore(nil)
	many := func(yield func(ImportItem, error) bool) {
		for i := range 2*batch + 10 {
			if !yield(ImportItem{Mention: incoming.Mention{State: incoming.Approved, Source: fmt.Sprintf("https://a.example/%d", i), Target: "https://our.example/"}}, nil) {
				return
			}
		}
	}
	failure := errors.New("disk full")
	store.Fail(failure)
	if report, err := ImportItems(t.Context(), store, many, ImportOptions{}); !errors.Is(err, failure) || report.Recorded != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	store.Fail(nil)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	stopping := func(yield func(ImportItem, error) bool) {
		for item, err := range many {
			if n++; n == batch+5 {
				cancel()
			}
			if !yield(item, err) {
				return
			}
		}
	}
	if report, err := ImportItems(ctx, store, stopping, ImportOptions{}); !errors.Is(err, context.Canceled) || report.Recorded != batch+4 {
		t.Errorf("%+v, %v", report, err)
	}
	if report := mustImport(t, store, many, ImportOptions{}); report.Recorded != batch+6 || report.Known != batch+4 {
		t.Errorf("%+v", report)
	}
}

func FuzzImport(f *testing.F) {
	f.Add(jf2Feed)
	f.Add(wxr)
	f.Fuzz(func(t *testing.T, text string) {
		for _, items := range []iter.Seq2[ImportItem, error]{JF2(strings.NewReader(text)), WordPress(strings.NewReader(text))} {
			store := incomingtest.NewStore(nil)
			ImportItems(t.Context(), store, items, ImportOptions{}) // most texts are errors
			for m := range store.List(t.Context(), incoming.Filter{}) {
				if strings.ContainsAny(m.Title+m.Excerpt+m.Lang+m.Author.Name, "\x00\n\x1b") || len(m.Source) > incoming.MaxURL || len([]rune(m.Excerpt)) > maxExcerpt ||
					m.Author.URL != "" && !isWeb(m.Author.URL) || !isWeb(m.Source) {
					t.Errorf("%+v", m)
				}
			}
		}
	})
}
