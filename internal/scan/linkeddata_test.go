package scan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// linkValues returns the values that Links finds, and checks that each is the
// text in its range.
func linkValues(t *testing.T, text string) []string {
	t.Helper()
	values := []string{}
	LinkedData([]byte(text), func(start, end int, value []byte) {
		raw := text[start:end]
		if !strings.Contains(raw, `\`) && raw != string(value) {
			t.Errorf("range holds %q, value is %q", raw, value)
		}
		if text[start-1] != '"' || text[end] != '"' {
			t.Errorf("range of %q is not between quotes", raw)
		}
		values = append(values, string(value))
	})
	return values
}

// Properties and their ranges: https://schema.org/docs/full.html
func TestSchemaOrg(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"url", `{"@type":"WebSite","url":"https://example.org/"}`, []string{"https://example.org/"}},
		{"array", `{"sameAs":["https://a.example/x","http://b.example/"]}`, []string{"https://a.example/x", "http://b.example/"}},
		{"nested_array", `{"image":[["/a.png"],"/b.png"]}`, []string{"/a.png", "/b.png"}},
		{"object", `{"logo":{"@type":"ImageObject","url":"/logo.png","width":60}}`, []string{"/logo.png"}},
		{"array_of_objects", `{"image":[{"contentUrl":"/a.png"},{"contentUrl":"/b.png","name":"/c"}]}`, []string{"/a.png", "/b.png"}},
		{"object_of_other_property", `{"author":{"@type":"Person","name":"A","url":"/a/"}}`, []string{"/a/"}},
		{"graph", `{"@graph":[{"url":"/1"},{"url":"/2"}]}`, []string{"/1", "/2"}},
		{"array_at_the_top", `[{"url":"/1"},{"url":"/2"}]`, []string{"/1", "/2"}},
		{"order_within_object", `{"image":"/1","x":{"url":"/2"},"logo":"/3"}`, []string{"/1", "/2", "/3"}},
		{"media", `{"thumbnailUrl":"/t","embedUrl":"/e","downloadUrl":"/d","installUrl":"/i","screenshot":"/s"}`, []string{"/t", "/e", "/d", "/i", "/s"}},
		{"other_properties", `{"license":"/l","hasMap":"/h","menu":"/m","codeRepository":"/c","discussionUrl":"/x","replyToUrl":"/r","relatedLink":"/y","significantLink":"/z"}`,
			[]string{"/l", "/h", "/m", "/c", "/x", "/r", "/y", "/z"}},
		{"main_entity_string", `{"mainEntityOfPage":"/p/"}`, []string{"/p/"}},
		{"main_entity_id", `{"mainEntityOfPage":{"@type":"WebPage","@id":"https://example.org/p/"}}`, []string{"https://example.org/p/"}},
		{"breadcrumbs", `{"itemListElement":[{"@type":"ListItem","position":1,"item":{"@id":"/a/","name":"A"}},{"position":2,"item":"/b/"}]}`, []string{"/a/", "/b/"}},
		{"item_list", `{"itemListElement":["/a/","Name"]}`, []string{"/a/"}},
		{"target", `{"potentialAction":{"@type":"ReadAction","target":["/a","/b?q={q}"]}}`, []string{"/a"}},
		{"template", `{"target":{"@type":"EntryPoint","urlTemplate":"https://example.org/?q={q}"}}`, nil},
		{"template_without_variable", `{"target":{"@type":"EntryPoint","urlTemplate":"https://example.org/go"}}`, []string{"https://example.org/go"}},

		{"context", `{"@context":"https://schema.org","@type":"https://schema.org/Thing"}`, nil},
		{"context_with_terms", `{"@context":{"url":"https://schema.org/url","x":[{"image":"/i"}]},"url":"/u"}`, []string{"/u"}},
		{"identifiers", `{"@id":"https://example.org/#me","identifier":"https://doi.example/1","propertyID":"https://x.example/","additionalType":"https://x.example/"}`, nil},
		{"id_of_other_property", `{"publisher":{"@id":"https://example.org/#org"},"image":{"@id":"/#i"}}`, nil},
		{"id_below_item_only", `{"item":{"author":{"@id":"/x"},"@id":"/y"}}`, []string{"/y"}},
		{"id_in_the_next_object", `{"item":{"@id":"/y"},"author":{"@id":"/x"}}`, []string{"/y"}},
		{"words", `{"image":"logo","logo":"The logo.png","license":"CC BY 4.0","isPartOf":"Node.js","itemListElement":["Vue.js"],"video":"v1.0"}`, nil},
		{"relative", `{"url":"about.html","sameAs":["a/b","c"],"thumbnailUrl":"t?x=1","image":["i.png","img/j.webp?v=2",{"contentUrl":"k"}],"mainEntityOfPage":{"@id":"p/"}}`,
			[]string{"about.html", "a/b", "c", "t?x=1", "i.png", "img/j.webp?v=2", "k", "p/"}},
		{"not_relative", `{"url":["mailto:a@b.example","#me","a b","{{ url }}","_:b0",""],"image":["data:image/png,x","logo.1","a.b/c"]}`, nil},
		{"number", `{"url":12,"image":null,"logo":true,"name":"/n"}`, nil},
		{"key_without_value", `{"url":}{"name":"/n"}`, nil},
		{"property_name_is_case_sensitive", `{"URL":"/u"}`, nil},
		{"string_at_the_top", `"/u"`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := linkValues(t, c.in); !slices.Equal(got, c.want) {
				t.Errorf("jsonLD(%s) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestJSONLD_what_looks_like_a_URL(t *testing.T) {
	for value, want := range map[string]bool{
		"http://h/": true, "https://h/": true, "HTTPS://H/": true, "//h/x": true, " /x": true,
		"/": true, "/a b": true, "./a": true, "../a": true, "?q": true,
		"": false, " ": false, ".": false, "..": false, "...": false, "a": false, "a/b": false, "#f": false,
		"http": false, "http:": false, "https:/": false, "http:/h": false, "httpx://h": false,
		"ftp://h/": false, "mailto:a@b.example": false, "data:,x": false, "Hello / world": false,
	} {
		if got := looksLikeURL([]byte(value)); got != want {
			t.Errorf("jsonLooksLikeURL(%q) = %v, want %v", value, got, want)
		}
	}
}

func TestRFC8259_7_escapes(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"solidus", `https:\/\/example.org\/a`, "https://example.org/a"},
		{"unicode", `/?a\u0026b`, "/?a&b"},
		{"unicode_first", `\u002Fa`, "/a"},
		{"quote", `/\"`, `/"`},
		{"backslash", `/\\`, `/\`},
		{"controls", `/\b\f\n\r\t`, "/\b\f\n\r\t"},
		{"surrogate_pair", `/\ud83d\ude00`, "/\U0001F600"},
		{"lone_high_surrogate", `/\ud83dx`, "/\ufffdx"},
		{"lone_low_surrogate", `/\ude00\ud83d`, "/\ufffd\ufffd"},
		{"high_surrogate_and_letter", `/\ud83d\u0041`, "/\ufffdA"},
		{"short_unicode", `/\u12`, "/\ufffd12"},
		{"no_hex", `/\uzzzz`, "/\ufffdzzzz"},
		{"unknown", `/\q`, "/q"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := linkValues(t, `{"url":"`+c.in+`"}`)
			if len(got) != 1 || got[0] != c.want {
				t.Errorf("%s means %q, want %q", c.in, got, c.want)
			}
		})
	}
	t.Run("in_keys", func(t *testing.T) {
		if got := linkValues(t, `{"\u0075rl":"/a"}`); !slices.Equal(got, []string{"/a"}) {
			t.Errorf("got %q", got)
		}
	})
}

func TestJSONLD_faulty_text(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"no_JSON", "hello", nil},
		{"cut_short_in_string", `{"url":"/a","image":"/b`, []string{"/a"}},
		{"cut_short_in_escape", `{"url":"/a\`, nil},
		{"cut_short_behind_key", `{"url":`, nil},
		{"comma_missing", `{"name":"n" "url":"/a" "image":"/b"}`, []string{"/a", "/b"}},
		{"second_value_belongs_to_nothing", `{"url":"/a" "/b"}`, []string{"/a"}},
		{"comma_at_end", `{"sameAs":["/a","/b",],}`, []string{"/a", "/b"}},
		{"quote_missing", "{\"name\":\"n,\n\"url\":\"/a\"}", []string{"/a"}},
		{"line_end_in_string", "{\"description\":\"one\ntwo\",\n\"url\":\"/a\"}", []string{"/a"}},
		{"bracket_missing", `{"sameAs":["/a","name":"/n","url":"/b"}`, []string{"/a", "/b"}},
		{"brackets_too_many", `]}]}{"url":"/a"}`, []string{"/a"}},
		{"CDATA", "//<![CDATA[\n{\"url\":\"/a\"}\n//]]>", []string{"/a"}},
		{"HTML_comment", "<!--\n{\"url\":\"/a\"}\n-->", []string{"/a"}},
		{"two_documents", `{"url":"/a"};{"url":"/b"}`, []string{"/a", "/b"}},
		{"bytes_that_are_no_UTF8", "{\"\xff\":\"\xfe\",\"url\":\"/\xff\"}", []string{"/\xff"}},
		{"NUL", "\x00{\"url\":\"/a\"}\x00", []string{"/a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := linkValues(t, c.in); !slices.Equal(got, c.want) {
				t.Errorf("jsonLD(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestJSONLD_depth(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat(`{"a":`, depth-1) + `{"url":"/deep"}` + strings.Repeat("}", depth-1)
	}
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"at_the_limit", nested(maxDepth), []string{"/deep"}},
		{"beyond_the_limit", nested(maxDepth + 1), nil},
		{"comes_back", `{"x":` + nested(5*maxDepth) + `,"url":"/a"}`, []string{"/a"}},
		{"comes_back_to_the_limit", strings.Repeat(`[`, maxDepth-1) + `{"x":{"url":"/deep"},"url":"/a"}`, []string{"/a"}},
		{"million_brackets", strings.Repeat("[", 1e6) + `{"url":"/a"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := linkValues(t, c.in); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzJSONLD(f *testing.F) {
	for _, s := range []string{
		`{"url":"\/a\u0026","sameAs":["http://h/","x"],"item":{"@id":"/i"}}`,
		`{"@context":{"url":"/x"},"target":{"urlTemplate":"/{q}"}}`,
		`[[{"image":{"url":"/a"}}]]`, `{"url":"/a`, `]}"`, `{"url":"/\ud83d\ude00"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		last := 0
		valid := json.Valid(text)
		LinkedData(text, func(start, end int, value []byte) {
			if start <= last || start >= end || end >= len(text) {
				t.Fatalf("range [%d,%d) after %d of %d bytes", start, end, last, len(text))
			}
			last = end
			raw := text[start:end]
			if bytes.IndexByte(raw, '\\') < 0 && !bytes.Equal(raw, value) {
				t.Fatalf("range holds %q, value is %q", raw, value)
			}
			if len(value) > len(raw)*3 {
				t.Fatalf("%d bytes stand for %d", len(raw), len(value))
			}
			if !valid {
				return
			}
			var want string
			if err := json.Unmarshal(text[start-1:end+1], &want); err != nil {
				t.Fatalf("%q in valid JSON: %v", raw, err)
			}
			if bytes.IndexFunc(value, isRuneError) < 0 && string(value) != want {
				t.Fatalf("%q means %q, want %q", raw, value, want)
			}
		})
	})
}

// isRuneError finds bytes that are not UTF-8. encoding/json replaces them one
// by one, and Links keeps them.
func isRuneError(r rune) bool { return r == '\ufffd' }

func BenchmarkJSONLD(b *testing.B) {
	text := []byte(`{"@context":"https://schema.org","@type":"BlogPosting","headline":"` + strings.Repeat("A long headline. ", 8) +
		`","datePublished":"2024-05-01T10:00:00Z","author":{"@type":"Person","name":"A. U. Thor","url":"https:\/\/example.org\/about\/"},` +
		`"image":["/img/1.jpg","/img/2.jpg"],"mainEntityOfPage":{"@type":"WebPage","@id":"https://example.org/post/"},` +
		`"articleBody":"` + strings.Repeat("Some words of the article, and then some more. ", 40) + `"}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		LinkedData(text, func(start, end int, value []byte) { n += len(value) })
	}
}
