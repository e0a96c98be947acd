package similar

import (
	"fmt"
	"reflect"
	"testing"
)

func list(names ...string) *Names {
	l := &Names{}
	for _, n := range names {
		l.Add(n)
	}
	return l
}

func TestPlain(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "abc": "abc", "Reef-Knot": "reefknot", "a_b c.d+e": "abcde", "v1.10": "v1.10", "v11.0": "v11.0", "1-10": "1.10", "x-1-y": "x1y",
		"Größe": "größe", "...": "", "2011-nonparametric": "2011nonparametric", "--sftp": "sftp", "dir]": "dir", "章节-1": "章节1",
	} {
		if got := Plain(name); got != want {
			t.Errorf("Plain(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string][]string{
		"": nil, "reef-knot": {"reef", "knot"}, "upgrade-to-1.10": {"upgrade", "to", "1.10"}, "v1.2.": {"v", "1.2"}, "--A_b": {"a", "b"}, "größe1": {"größe", "1"},
	} {
		if got := Words(name); !reflect.DeepEqual(got, want) {
			t.Errorf("Words(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 4, 0}, {"a", "", 4, 1}, {"kitten", "sitting", 4, 3}, {"abc", "abc", 4, 0}, {"abc", "acb", 4, 1}, {"kitten", "sitting", 2, 2},
		{"aaaa", "bbbb", 3, 3}, {"short", "very much longer", 4, 4}, {"größe", "grösse", 4, 2}, {"日本語", "日木語", 4, 1}, {"abcd", "badc", 4, 2},
	} {
		got, back := Distance(tc.a, tc.b, tc.limit), Distance(tc.b, tc.a, tc.limit)
		if got != tc.want || back != tc.want {
			t.Errorf("Distance(%q, %q, %d) = %d, %d back, want %d", tc.a, tc.b, tc.limit, got, back, tc.want)
		}
	}
	long := fmt.Sprintf("%0100d", 0)
	if got := Distance(long+"x"+long, long+"yz"+long, 4); got != 2 {
		t.Errorf("long names: %d, want 2", got)
	}
}

// TestNearest: a name is near if it differs in letter case, punctuation or
// typing errors, and only one does.
func TestNearest(t *testing.T) {
	l := list("bowline", "Reef-Knot", "knot-a", "knot-b", "a", "installation", "upgrade-to-1.4", "upgrade-to-1.5", "copy", "restore-hooks", "sections", "v1.10", "set-up", "log-on", "epi-mask", "epi-store", "epu-store", "install-velero", "Größe", "日本語入門")
	for _, tc := range []struct{ want, expect string }{
		{"bowlin", "bowline"},
		{"bowilne", "bowline"},
		{"bowlime", "bowline"},
		{"bow1ine", ""}, // numbers are not typing errors
		{"reefknot", "Reef-Knot"},
		{"REEF_KNOT", "Reef-Knot"},
		{"knot-c", ""}, // two are equally near
		{"b", ""},
		{"instalation", "installation"},
		{"insatllaton", "installation"},
		{"upgrade-to-1.7", ""},
		{"upgrade-to-14", ""},
		{"upgarde-to-1.5", "upgrade-to-1.5"},
		{"copyto", ""}, // another word
		{"instal-velero", "install-velero"},
		{"set-upp", "set-up"},
		{"log-in", ""}, // log-on is no typing error
		{"epu-mask", ""},
		{"section", "sections"},
		{"v11.0", ""},
		{"grösse", ""},
		{"größen", "Größe"},
		{"日本語入問", "日本語入門"},
		{"日語入問", ""},
		{"", ""},
		{"...", ""},
		{"something-else", ""},
	} {
		if got := l.Nearest(tc.want); got != tc.expect {
			t.Errorf("Nearest(%q) = %q, want %q", tc.want, got, tc.expect)
		}
	}
	if got := (*Names)(nil).Nearest("x"); got != "" {
		t.Errorf("nil Names gives %q", got)
	}
	if got := list("Name", "na-me").Nearest("name"); got != "Name" {
		t.Errorf("of two plainly equal names: %q, want the one that differs only in letter case", got)
	}
	if got := list("n_ame", "na-me").Nearest("name"); got != "" {
		t.Errorf("of two plainly equal names: %q, want none", got)
	}
	if got := list("name", "name").Nearest("names"); got != "name" {
		t.Errorf("of a name added twice: %q", got)
	}
}

// TestNearestTitle: titles are reworded, so most words are enough, but not some.
func TestNearestTitle(t *testing.T) {
	l := list("install-the-velero-client", "backup-hooks", "restore-hooks", "backup-reference", "whats-new-in-3.11", "max-connections-int",
		"customizing-an-installation", "next-steps", "color-auto-never-always", "helm-install-procedure", "enable-the-proxy-injection", "notes-for-release-2023",
		"backtick-code-block", "程式碼區塊-code-block", "標籤-plugins", "外掛-plugins")
	for _, tc := range []struct{ want, expect string }{
		{"install-velero-client", "install-the-velero-client"},
		{"install-the-velero-cli", "install-the-velero-client"},
		{"max-connections-n", "max-connections-int"},
		{"customize-installation", "customizing-an-installation"},
		{"restore-reference", ""},
		{"pre-hooks", ""},
		{"whats-new-in-3.10", ""},
		{"what-is-new-in-3.11", "whats-new-in-3.11"},
		{"steps", ""},
		{"helm-upgrade-procedure", ""},
		{"disable-the-proxy-injection", ""},
		{"notes-for-release-2024", ""},
		{"color", ""},
		{"-", ""},
		{"code-block", "程式碼區塊-code-block"},
		{"plugins", ""},
	} {
		if got := l.NearestTitle(tc.want); got != tc.expect {
			t.Errorf("NearestTitle(%q) = %q, want %q", tc.want, got, tc.expect)
		}
	}
}

// TestNearest_bounded: the effort is bounded for many names and many queries,
// and names that differ only in case are still found.
func TestNearest_bounded(t *testing.T) {
	l := &Names{}
	for i := range 50_000 {
		l.Add(fmt.Sprintf("Name-of-section-%d", i))
	}
	for i := range 5_000 {
		l.Nearest(fmt.Sprintf("other-title-%d", i))
	}
	if *l.Budget >= 0 || l.Nearest("name-of-section-7") != "Name-of-section-7" {
		t.Errorf("%d left, nearest of a known name %q", *l.Budget, l.Nearest("name-of-section-7"))
	}
	if got := l.Nearest("Name-of-sektion-7"); got != "" {
		t.Errorf("compared more names than the bound allows: %q", got)
	}
}

// FuzzNearest: what is near is a name of the list, and never panics.
func FuzzNearest(f *testing.F) {
	f.Add("instalation", "installation", "installing")
	f.Add("größe", "Größe\xff", "")
	f.Add("1.", ".1", "1..1")
	f.Fuzz(func(t *testing.T, want, a, b string) {
		l := list(a, b)
		for _, got := range []string{l.Nearest(want), l.NearestTitle(want)} {
			if got != "" && got != a && got != b {
				t.Errorf("%q is not in the list", got)
			}
		}
		if d, back := Distance(a, b, 5), Distance(b, a, 5); d != back || d > 5 {
			t.Errorf("Distance(%q, %q) = %d, %d back", a, b, d, back)
		}
	})
}
