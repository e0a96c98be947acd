package hook

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRelative(t *testing.T) {
	files := fstest.MapFS{"content/post/a.md": {}, "content/b c.md": {}, "content/img/d.png": {}}
	for source, want := range map[string]string{
		"[x](a.md) [y](../b%20c.md#h) ![z](../img/d.png?v=1)": "",
		"[x](gone.md)":             "7:5 gone.md",
		"![x](../img/gone.png)":    "7:6 ../img/gone.png",
		"[x][y]\n\n[y]: gone.md#h": "9:6 gone.md#h",
		"[x](../img/) [y](../img)": "",
		"[x](a.md/)":               "7:5 a.md/",
		"[x](../../../etc/passwd)": "7:5 ../../../etc/passwd",
		"[x](a%zz.md)":             "7:5 a%25zz.md",
		"[x](mailto:a@b.example) [y](https://c.example) [z](//d.example) [r](/root) [f](#f) [q](?q) [e]() <https://e.example> <a href=gone>": "",
		"[x](a:b)":                             "",
		"[x](./a:b)":                           "7:5 ./a:b",
		"`[x](gone.md)` ![[y](gone.md)](a.md)": "",
	} {
		var r Recorder
		var got []string
		md := newMarkdown(&r, rewrite{}, Relative{Resolve: InFiles(files), Report: func(l Link) {
			if l.Position.File != "content/post/x.md" {
				t.Errorf("file %s", l.Position.File)
			}
			got = append(got, fmt.Sprintf("%d:%d %s", l.Position.Line, l.Position.Column, l.Destination))
		}})
		if _, err := r.Convert(md, Input{File: "content/post/x.md", Line: 7, Text: []byte(source)}, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}
