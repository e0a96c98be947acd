package templates

import "testing"

func TestChooser(t *testing.T) {
	pages := []string{"index.html", "404.html", "about.html", "fr/index.html", "fr/404.html", "post/index.html", "post/a/index.html", "post/b.html",
		"post/page/2/index.html", "tags/index.html", "tags/go/index.html", "fr/tags/go/index.html", "series/x/index.html", "series/y/index.html",
		"news.html", "news/a.html", "errors/codes/404.html", "50x.html", "docs/503/index.html", "2024/index.html"}
	feeds := []string{"index.xml", "series/x/index.xml"}
	for _, c := range []struct {
		name   string
		choice Choice
		want   map[string]Chosen
	}{
		{"PB-66/default", Choice{}, map[string]Chosen{"index.html": Yes, "about.html": Yes, "post/a/index.html": Yes, "post/b.html": Yes,
			"series/y/index.html": Yes, "errors/codes/404.html": Yes, "2024/index.html": Yes,
			"404.html": Never, "fr/404.html": Never, "50x.html": Never, "docs/503/index.html": Never,
			"fr/index.html": No, "post/index.html": No, "post/page/2/index.html": No, "tags/index.html": No, "tags/go/index.html": No,
			"fr/tags/go/index.html": No, "series/x/index.html": No, "news.html": No}},
		{"kinds", Choice{Kinds: []string{"list"}}, map[string]Chosen{"index.html": No, "about.html": No, "post/index.html": Yes, "404.html": Never}},
		{"patterns", Choice{Pages: []string{"post/**"}, Exclude: []string{"post/b*"}}, map[string]Chosen{"index.html": Never, "post/a/index.html": Yes,
			"post/b.html": Never, "post/index.html": No}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ch := NewChooser(c.choice, pages, feeds)
			for p, want := range c.want {
				if got := ch.Of(p); got != want {
					t.Errorf("%s: %d, want %d", p, got, want)
				}
			}
		})
	}
}
