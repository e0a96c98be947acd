package weburl

import "testing"

func BenchmarkResolveRelative(b *testing.B) {
	base, err := Parse("https://doc.rust-lang.org/alloc/collections/btree_map/struct.BTreeMap.html")
	if err != nil {
		b.Fatal(err)
	}
	for _, ref := range []string{
		"#method.new",
		"struct.Entry.html",
		"../../vec/struct.Vec.html#method.push",
		"/std/index.html?search=vec",
		"a%20b.html",
		"./x/../y.html",
		"a b/é.html",
	} {
		b.Run(ref, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := base.Resolve(ref); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("parser/"+ref, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := base.resolveByParser(ref, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseAbsolute(b *testing.B) {
	for _, raw := range []string{
		"https://doc.rust-lang.org/book/ch01-00.html",
		"https://github.com/rust-lang/rust/issues/12345?x=y#issuecomment-1",
		"http://example.com",
		"http://user@example.com:8080/x",
		"https://bücher.example/",
		"mailto:someone@example.com",
	} {
		b.Run(raw, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("parser/"+raw, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (URL{}).resolveByParser(raw, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Ordinary URLs, of which the first four are canonical already.
func BenchmarkCanonical(b *testing.B) {
	for _, c := range []struct{ name, raw string }{
		{"plain", "https://doc.rust-lang.org/book/ch01-00.html"},
		{"fragment", "https://github.com/rust-lang/rust/issues/12345#issuecomment-1"},
		{"arguments", "https://www.example.com/2024/05/a-post/?utm_source=feed&utm_medium=rss"},
		{"escapes", "https://de.wikipedia.org/wiki/B%C3%BCcher_(Kunst)"},
		{"no path", "https://example.com"},
		{"letter case", "https://Example.com/A/B"},
		{"port", "http://example.com:8080/x"},
		{"recoded", "http://example.com/%7euser/a'b?x=%41%20b"},
		{"dots", "https://example.com/a/./b/../c"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Canonical(c.raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
