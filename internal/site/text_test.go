package site

import "testing"

// TestReaderText: the text of a page is UTF-8 without byte order mark, whether
// the site knows that the file holds just that or not.
func TestReaderText(t *testing.T) {
	const decl = "<meta charset=utf-8>"
	for _, test := range []struct {
		name, file, want string
		plain            bool
	}{
		{"UTF-8", decl + "ä", decl + "ä", true},
		{"byte order mark", "\xEF\xBB\xBF<p>ä", "<p>ä", true},
		{"Latin-1", "<meta charset=iso-8859-1>\xE4", "<meta charset=iso-8859-1>ä", false},
		{"no declaration", "<p>\xE4", "<p>ä", false},
		{"Latin-1 in a link", "<meta charset=iso-8859-1><a href=\xE4>", "<meta charset=iso-8859-1><a href=ä>", false},
		{"UTF-16", "\xFF\xFE<\x00p\x00>\x00", "<p>", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, sums := range []bool{false, true} {
				s := loadFiles(t, files{"p.html": test.file}, Options{Sums: sums})
				if got := s.Page(0).plain; got != test.plain {
					t.Errorf("plain is %t", got)
				}
				r, err := s.NewReader()
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				text, err := r.Text(0)
				if err != nil || string(text) != test.want {
					t.Errorf("sums %t: text %q, error %v, want %q", sums, text, err, test.want)
				}
			}
		})
	}
}
