package glob

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sitelink/sitelink/internal/testkit"
)

// odd are patterns that doublestar answers by the place of an empty alternative or of
// stars side by side: *** does not match an empty name.
var odd = regexp.MustCompile(`\*[{},]|\}\*|\*\*\*|\*\*[^/]|[^/]\*\*|\{/\*\*`)

// Every pattern matches what doublestar matches.
func TestMatch(t *testing.T) {
	const letters, signs = "ab/", `ab/**?{},[]!-\é`
	random := rand.New(rand.NewPCG(1, 2))
	word := func(alphabet string, most int) string {
		runes := []rune(alphabet)
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteRune(runes[random.IntN(len(runes))])
		}
		return b.String()
	}
	compared, matched := 0, 0
	for range testkit.Longer(40_000, 200_000) {
		pattern, name := word(signs, 9), word(letters+"é", 7)
		got, want := compare(t, pattern, name)
		if got != want && (want || name != "" && !odd.MatchString(pattern)) {
			t.Errorf("%q on %q: %v, want %v", pattern, name, got, want)
		}
		compared++
		if want {
			matched++
		}
	}
	if matched < compared/100 {
		t.Errorf("only %d of %d names matched", matched, compared)
	}
}

// compare returns the answers of this package and of doublestar.
func compare(t *testing.T, pattern, name string) (got, want bool) {
	p, err := Compile(pattern)
	if err != nil {
		if err != ErrSize && doublestar.ValidatePattern(pattern) {
			t.Fatalf("%q: %v", pattern, err)
		}
		return false, false
	}
	if strings.Count(pattern, "{") > 3 {
		return true, true // takes doublestar too long
	}
	want, err = doublestar.Match(pattern, name)
	if err != nil {
		return false, false
	}
	return p.Match(name), want
}

// Alternatives are bounded when a pattern is compiled.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    error
	}{
		{strings.Repeat("{a,b}", 8), nil},
		{strings.Repeat("{a,b}", 40), ErrSize},
		{strings.Repeat("{a,", 1000) + "b" + strings.Repeat("}", 1000), nil},
		{strings.Repeat("{,", 100) + "b" + strings.Repeat("}", 100), nil},
		{"{" + strings.Repeat("post-1,", 1000) + "x}/*", nil},
		{"{" + strings.Repeat(",", 1<<20) + "}", ErrSize},
		{strings.Repeat("a", MaxSize), ErrSize},
		{strings.Repeat("**/", 1000), nil},
		{"[a", ErrSyntax},
		{"{a", ErrSyntax},
	} {
		if _, err := Compile(c.pattern); err != c.want {
			t.Errorf("%.40s: %v, want %v", c.pattern, err, c.want)
		}
	}
}

// The cost counts words of states, because a character moves a whole word at once, and the
// elements that a character outside of ASCII is compared with. A character may cost one
// word for each 64 bytes of the pattern. Outside of ASCII, it may also cost one for each
// element. With backtracking, or alternatives tried in turn, the cost would grow with the
// square of the name or exponentially.
func FuzzPattern(f *testing.F) {
	for _, pattern := range []string{"a/**", "**/*a*/", "{a,b{c,d}}e", "[!a-c]?", "*a", "{a,a}", `\*`, "**/", "é*"} {
		f.Add(pattern, "a/b/c", uint8(1))
		f.Add(pattern, "aé", uint8(40))
	}
	f.Add("[a-@]?", "aé", uint8(1))
	f.Fuzz(func(t *testing.T, pattern, name string, times uint8) {
		if got, want := compare(t, pattern, name); len(pattern)+len(name) < 60 && want && !got {
			t.Fatalf("%q on %q: no match", pattern, name)
		}
		pattern = strings.Repeat(pattern, int(times))
		p, err := Compile(pattern)
		if err != nil {
			return
		}
		name = strings.Repeat(name, 50)
		steps := 0
		p.match(name, &steps)
		if most := (len(name) + 1) * (p.Size() + p.Size()/64 + len(p.alternatives)); steps > most || !strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) && steps > len(name)*(p.Size()/64+len(p.alternatives)) {
			t.Fatalf("%q on %q takes %d steps", pattern, name, steps)
		}
	})
}
