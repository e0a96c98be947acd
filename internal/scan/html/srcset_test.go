package html

import (
	"bytes"
	"slices"
	"testing"
)

// srcsetURLs returns the URLs that srcset finds.
func srcsetURLs(value string) []string {
	urls := []string{}
	srcset([]byte(value), func(start, end int) { urls = append(urls, value[start:end]) })
	return urls
}

// The cases follow the steps of
// https://html.spec.whatwg.org/multipage/images.html#parse-a-srcset-attribute
// and cover what web-platform-tests' parse-a-srcset-attribute.html covers,
// except that candidates with unusable descriptors are wanted as well.
func TestHTML_srcset(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		// Splitting loop.
		{"empty", "", nil},
		{"white_space", " \t\r\n\f ", nil},
		{"only_commas", ",, ,", nil},
		{"one", "a.png", []string{"a.png"}},
		{"one_with_space", " \ta.png\n\f", []string{"a.png"}},
		{"one_in_tabs", "\t\ta.png\t\t1x\t\t", []string{"a.png"}},
		{"one_in_line_feeds", "\n\na.png\n\n1x\n\n", []string{"a.png"}},
		{"one_in_form_feeds", "\f\fa.png\f\f1x\f\f", []string{"a.png"}},
		{"one_in_carriage_returns", "\r\ra.png\r\r1x\r\r", []string{"a.png"}},
		{"vertical_tab_is_no_space", "\va.png\v1x", []string{"\va.png\v1x"}},
		{"controls_are_no_space", "\x0ea\x0f1x\x10", []string{"\x0ea\x0f1x\x10"}},
		{"no_break_space_is_no_space", "\u00a0a\u00a0", []string{"\u00a0a\u00a0"}},
		{"comma_behind", "a.png,", []string{"a.png"}},
		{"commas_behind", "a.png,,,", []string{"a.png"}},
		{"commas_and_spaces_behind", "a.png,, , ", []string{"a.png"}},
		{"space_then_comma", "a.png ,", []string{"a.png"}},
		{"commas_before", ",,,a.png", []string{"a.png"}},
		{"commas_and_spaces_before", " , ,,a.png", []string{"a.png"}},
		{"comma_closes_candidate", "a.png, b.png 2x", []string{"a.png", "b.png"}},
		{"comma_inside_url", "data:,a", []string{"data:,a"}},
		{"no_space_behind_comma", "a.png,b.png 2x", []string{"a.png,b.png"}},
		{"data_url", "data:image/png;base64,AA,B= 1x, b.png 2x", []string{"data:image/png;base64,AA,B=", "b.png"}},
		{"three", "a-1.jpg 100w, a-2.jpg 200w,a-3.jpg 300w", []string{"a-1.jpg", "a-2.jpg", "a-3.jpg"}},
		{"no_comma_at_all", "a.png b.png 2x", []string{"a.png"}},

		// Descriptor tokenizer.
		{"descriptor", "a 1x", []string{"a"}},
		{"descriptor_and_space", "a 1x ", []string{"a"}},
		{"descriptor_and_comma", "a 1x,", []string{"a"}},
		{"comma_in_parentheses", "a 1x ( , b 1x, ), c", []string{"a", "c"}},
		{"parentheses_do_not_nest", "a 1x ((( , b 1x, ), c", []string{"a", "c"}},
		{"parenthesis_within_descriptor", "a 1x(,b), c", []string{"a", "c"}},
		{"parentheses_closed_first", "a ), b", []string{"a", "b"}},
		{"brackets_are_nothing_special", "a [ , b 1x, c ]", []string{"a", "b", "c"}},
		{"braces_are_nothing_special", "a { , b 1x, c }", []string{"a", "b", "c"}},
		{"quotes_are_nothing_special", "a \" , b 1x, c \"", []string{"a", "b", "c"}},
		{"backslash_is_nothing_special", "a 1x \\,data:;\\,b, c", []string{"a", "data:;\\,b", "c"}},
		{"comments_are_nothing_special", "a /*, b, c */", []string{"a", "b", "c"}},
		{"open_parenthesis_takes_the_rest", "a (, b", []string{"a"}},
		{"open_parenthesis_at_end", "a, b (", []string{"a", "b"}},
		{"open_parenthesis_and_space", "a, b (  ", []string{"a", "b"}},
		{"open_parenthesis_and_comma", "a, b (,", []string{"a", "b"}},
		{"parenthesis_in_url", "a(b,c) 1x, d", []string{"a(b,c)", "d"}},

		// Descriptor parser: a browser drops the first of these.
		{"unknown_descriptor", "a foo, b 1x", []string{"a", "b"}},
		{"zero_width", "a 0w, b 1x", []string{"a", "b"}},
		{"width_and_density", "a 1w 1x, b", []string{"a", "b"}},
		{"height_alone", "a 1h, b", []string{"a", "b"}},
		{"two_densities", "a 1x 1.5e1x", []string{"a"}},
		{"control_in_descriptor", "a 1\x01w", []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := srcsetURLs(c.in)
			if !slices.Equal(got, c.want) {
				t.Errorf("srcset(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func FuzzSrcset(f *testing.F) {
	for _, s := range []string{"", "a 1x, b 2x", ",,a,,", "a (,b), c", "data:,a 1w 2h,\tb", "a\v,b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		last := 0
		srcset(value, func(start, end int) {
			if start < last || start >= end || end > len(value) {
				t.Fatalf("range [%d,%d) after %d of %d bytes", start, end, last, len(value))
			}
			last = end
			url := value[start:end]
			if bytes.ContainsAny(url, " \t\n\r\f") || url[0] == ',' || url[len(url)-1] == ',' {
				t.Fatalf("%q is no candidate's URL", url)
			}
		})
	})
}

func BenchmarkSrcset(b *testing.B) {
	value := []byte("/img/a-320w.jpg 320w, /img/a-640w.jpg 640w, /img/a-1280w.jpg 1280w, /img/a-2560w.jpg 2560w")
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		srcset(value, func(start, end int) { n += end - start })
	}
}
