// Package similar finds what is most alike: the name that an author most likely meant, and
// the elements of two lists that belong together.
package similar

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Plain returns a name in lower case and without punctuation, except a dot for
// punctuation between two digits: 1.10 is not 11.0. Accents are part of their letters (NFC).
func Plain(name string) string {
	if isPlain(name) {
		return name
	}
	var b strings.Builder
	b.Grow(len(name))
	afterDigit, gap := false, false
	for _, r := range norm.NFC.String(name) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			gap = true
			continue
		}
		digit := unicode.IsDigit(r)
		if gap && digit && afterDigit {
			b.WriteByte('.')
		}
		b.WriteRune(unicode.ToLower(r))
		afterDigit, gap = digit, false
	}
	return b.String()
}

// isPlain reports whether a name consists of lower case ASCII letters and
// digits, as most do.
func isPlain(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9') {
			return false
		}
	}
	return true
}

// Words returns the words of a name in lower case: letters, or digits with the
// punctuation between them.
func Words(name string) []string {
	const (
		none = iota
		letters
		number
	)
	var words []string
	start, kind := 0, none
	flush := func(end int) {
		if kind != none {
			words = append(words, strings.ToLower(strings.TrimRight(name[start:end], ".")))
		}
		kind = none
	}
	for i, r := range name {
		is := none
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r):
			is = letters
		case unicode.IsDigit(r):
			is = number
		case r == '.' && kind == number:
			is = number
		}
		if is != kind {
			flush(i)
			start, kind = i, is
		}
	}
	flush(len(name))
	return words
}

// Typo returns how many typing errors lie between two names, and whether the
// author can have meant one by the other. Letter case and punctuation do not
// count. An error is a letter that is wrong, missing, added, or exchanged with
// the next one. Short words allow no error, long ones two.
func Typo(a, b string) (errors int, ok bool) {
	return typo(newName(a), newName(b), nil)
}

// name is a name with what is compared.
type name struct {
	plain   string
	words   []string
	numbers string // the words that are
	digits  string // of plain, with the dots between them
	letters uint64 // see letterSet
}

func newName(s string) name {
	n := name{plain: Plain(s), words: Words(s)}
	for _, w := range n.words {
		if isNumeric(w[0]) {
			n.numbers += " " + w
		}
	}
	n.letters, n.digits = letterSet(n.plain), strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && isNumeric(byte(r)) {
			return r
		}
		return -1
	}, n.plain)
	return n
}

// longName is the length, in bytes, from which a name with a wrong separator may
// hold a typing error, too.
const longName = 12

// maxErrors is how many typing errors a name may hold.
const maxErrors = 3

// typo is Typo for names taken apart. A word of a that isKnown to be right is no
// typing error.
func typo(a, b name, isKnown func(word string) bool) (errors int, ok bool) {
	if a.plain == b.plain {
		return 0, true
	}
	if a.digits != b.digits {
		return 0, false
	}
	if len(a.words) != len(b.words) { // a separator is wrong, too
		errors, ok = wordTypo(a.plain, b.plain)
		return errors, ok && errors == 1 && min(len(a.plain), len(b.plain)) >= longName
	}
	for i, w := range a.words {
		if w == b.words[i] {
			continue
		}
		n, ok := wordTypo(w, b.words[i])
		if !ok && isKnown != nil && len(a.plain) >= longName/2 { // the other words make up for a short one
			n = Distance(w, b.words[i], 2)
			ok = n == 1 && (min(len(w), len(b.words[i])) >= 3 || isDoubled(w, b.words[i]) || isDoubled(b.words[i], w))
		}
		if errors += n; !ok || errors > maxErrors || isKnown != nil && isKnown(w) {
			return 0, false
		}
	}
	return errors, errors > 0
}

func wordTypo(a, b string) (errors int, ok bool) {
	limit := allowed(min(utf8.RuneCountInString(a), utf8.RuneCountInString(b)))
	d := Distance(a, b, limit+1)
	// copyto is another word than copy, not a typing error of it.
	isInflected := d > 1 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
	return d, d <= limit && !isInflected
}

// allowed is how many typing errors a word of that many letters may hold.
func allowed(letters int) int {
	switch {
	case letters < 4:
		return 0
	case letters < 8:
		return 1
	}
	return 2
}

// isDoubled reports whether long is short with one of its letters typed twice.
func isDoubled(long, short string) bool {
	for i := 1; i < len(long); i++ {
		if long[i] == long[i-1] && long[:i]+long[i+1:] == short {
			return true
		}
	}
	return false
}

// isNumeric reports whether a byte of a plain name belongs to a number.
func isNumeric(c byte) bool { return '0' <= c && c <= '9' || c == '.' }

// Distance returns how many letters must be changed, added, removed or exchanged
// with their neighbour to make b of a, or limit if that takes as many or more.
func Distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= 4*limit || -d >= 4*limit {
		return limit
	}
	var room [2][64]rune
	x, y := appendRunes(room[0][:0], a), appendRunes(room[1][:0], b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	if d := len(x) - len(y); d >= limit || -d >= limit {
		return limit
	}
	var rows [3][65]int
	before, last, row := rows[0][:], rows[1][:], rows[2][:]
	if len(y) >= len(row) {
		before, last, row = make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	}
	for j := range len(y) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			d := last[j-1]
			if x[i-1] != y[j-1] {
				d++
			}
			d = min(d, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least >= limit {
			return limit
		}
		before, last, row = last, row, before
	}
	return min(last[len(y)], limit)
}

func appendRunes(dst []rune, s string) []rune {
	for _, r := range s {
		dst = append(dst, r)
	}
	return dst
}

// Names is a list of names, in which to find the one that an author most likely meant by a name that is not in it.
//
// A wrong suggestion costs more than a missing one, so the rules are strict. Two names are near if they differ only in
// letter case and punctuation, in a typing error, or, for titles, in a few of their words. Numbers must be equal:
// upgrade-to-1.4 is not a typing error of upgrade-to-1.7. When two names are equally near, none is suggested.
//
// It belongs to one goroutine. The zero value is empty, and so is nil.
type Names struct {
	names []string
	// taken, made when first needed, are the names taken apart, in the same order;
	// byPlain are the indexes of the names with a plain name, and count says how
	// many names have a word.
	taken   []name
	byPlain map[string][]int32
	count   map[string]int
	// Budget is what comparisons may still cost, of this list or of all that share it; nil
	// means 1<<21. Names that differ only in case or punctuation are found without.
	Budget *Budget
}

// Budget bounds the search for near names: fifty thousand ids and links to five thousand
// others would otherwise take minutes. A unit is a name that is passed over for its
// letters, some 10 ns. A negative Budget is spent; then nothing is found.
type Budget int

// Take takes a cost from the budget, and reports whether it was left.
func (b *Budget) Take(cost int) bool {
	*b -= Budget(cost)
	return *b >= 0
}

// ordinary is the number of pairs of letters, or of words, that count as one
// comparison of two names. nearCost is the least cost of comparing two names with
// nearly the same letters.
const (
	ordinary = 1 << 10
	nearCost = 16
)

// Add adds a name.
func (l *Names) Add(name string) { l.names, l.byPlain = append(l.names, name), nil }

// All returns the names that were added; they must not be changed.
func (l *Names) All() []string { return l.names }

// Len returns how many names were added.
func (l *Names) Len() int {
	if l == nil {
		return 0
	}
	return len(l.names)
}

func (l *Names) prepare() {
	if l.byPlain != nil {
		return
	}
	if l.Budget == nil {
		l.Budget = new(Budget(1 << 21))
	}
	l.taken, l.count = make([]name, len(l.names)), map[string]int{}
	l.byPlain = make(map[string][]int32, len(l.names))
	for i, s := range l.names {
		n := newName(s)
		l.taken[i] = n
		l.byPlain[n.plain] = append(l.byPlain[n.plain], int32(i))
		for _, w := range n.words {
			l.count[w]++
		}
	}
}

// isKnown reports whether a name of the list has a word.
func (l *Names) isKnown(word string) bool { return l.count[word] > 0 }

// letterSet returns the set of the bytes of a name, folded to 64 bits. One typing
// error changes at most two bits, or eight in another script than Latin.
func letterSet(name string) (set uint64) {
	for i := 0; i < len(name); i++ {
		set |= 1 << (name[i] & 63)
	}
	return set
}

// Same returns the names that differ from want only in letter case and
// punctuation, in the order in which they were added.
func (l *Names) Same(want string) []string {
	if l.Len() == 0 {
		return nil
	}
	l.prepare()
	p := Plain(want)
	if p == "" {
		return nil
	}
	var out []string
	for _, i := range l.byPlain[p] {
		out = append(out, l.names[i])
	}
	return out
}

// Typos returns the names that want is a typing error of, those with the fewest
// errors, and how many those are.
func (l *Names) Typos(want string) (names []string, errors int) {
	if l.Len() == 0 {
		return nil, 0
	}
	l.prepare()
	n := newName(want)
	if len(n.plain) < 3 || !l.Budget.Take(len(l.names)) {
		return nil, 0
	}
	bytesPerError := 2
	if !isPlain(n.plain) {
		bytesPerError = 8
	}
	least := maxErrors
	for i := range l.taken {
		other := &l.taken[i]
		if d := len(other.plain) - len(n.plain); d > 4*least || -d > 4*least || bits.OnesCount64(n.letters^other.letters) > bytesPerError*least {
			continue
		}
		if !l.Budget.Take(nearCost + len(n.plain)*len(other.plain)/ordinary) {
			return nil, 0
		}
		d, ok := typo(n, *other, l.isKnown)
		switch {
		case !ok || d == 0 || d > least:
		case d < least:
			names, least = append(names[:0], l.names[i]), d
		default:
			names = append(names, l.names[i])
		}
	}
	return names, least
}

// Nearest returns the name that the author most likely meant by want: one that
// differs only in letter case and punctuation, or else in typing errors. It
// returns "" when there is none, or when several are equally near.
func (l *Names) Nearest(want string) string {
	same := l.Same(want)
	if len(same) == 0 {
		same, _ = l.Typos(want)
	} else if folded := slices.IndexFunc(same, func(n string) bool { return strings.EqualFold(n, want) }); folded >= 0 {
		return same[folded]
	}
	return only(same)
}

// NearestTitle is Nearest for names that are made of titles, such as the ids of
// headings. Titles are translated, so the only name that adds words of another script
// is near. Titles are also reworded, so a name with nearly the same words is near,
// too. 程式碼區塊-Code-Block is nearer to Code-Block than Backtick-Code-Block is.
func (l *Names) NearestTitle(want string) string {
	if got := l.Nearest(want); got != "" || l.Len() == 0 {
		return got
	}
	if len(want) >= minTranslated && isASCII(want) && l.Budget.Take(len(l.names)) {
		var both []string
		for _, n := range l.names {
			before, after, ok := strings.Cut(n, want)
			if ok && before+after != "" && !strings.ContainsFunc(before+after, isASCIILetter) {
				both = append(both, n)
			}
		}
		if got := only(both); got != "" {
			return got
		}
	}
	return l.reworded(want, false)
}

// minTranslated is how long a title is at least that another script is put beside.
const minTranslated = 4

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func isASCIILetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' }

// Abbreviated returns a name if want leaves out words of it, but not most, and if
// it is the only such name. Otherwise it returns "".
func (l *Names) Abbreviated(want string) string {
	if l.Len() == 0 {
		return ""
	}
	return l.reworded(want, true)
}

// only returns the only name of a list without repetitions; "" if there are
// several or none.
func only(names []string) string {
	if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return n != names[0] }) {
		return ""
	}
	return names[0]
}

// Titles are compared by the letters in their words. A title is a rewording of
// another if most letters of both are in words that they share, in the same
// order.
const (
	// enoughShared is the least share of the letters of both names, in percent.
	enoughShared = 60
	// clearlyMore is by how much the share must be larger than that of the next
	// name, in percent.
	clearlyMore = 10
	// enoughWords is how many words both names must have.
	enoughWords = 2
)

// reworded returns the only name that is a rewording of want, or "". A word
// that other names of the list have was not reworded: it means something else.
// With leftOut, only names count that have words which want leaves out.
func (l *Names) reworded(want string, leftOut bool) string {
	l.prepare()
	if !isTitle(want) || !l.Budget.Take(len(l.names)) {
		return ""
	}
	asked := newName(want)
	if len(asked.words) < enoughWords {
		return ""
	}
	best, most, next := "", 0, 0
	for i, n := range l.names {
		other := &l.taken[i]
		if !l.Budget.Take(len(asked.words) * len(other.words) / (ordinary / 16)) {
			return ""
		}
		if other.numbers != asked.numbers {
			continue
		}
		switch share := l.sharedWords(asked.words, other.words, leftOut); {
		case n == best:
		case share > most:
			best, most, next = n, share, most
		case share > next:
			next = share
		}
	}
	if most < enoughShared || most-next < clearlyMore || !isTitle(best) {
		return ""
	}
	return best
}

// isTitle reports whether a name is made of a title: of words with hyphens or
// underscores between them, not of a notation such as method.new.
func isTitle(name string) bool {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= utf8.RuneSelf, c == '-', c == '_', '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'z':
		case c == '.' && i > 0 && isNumeric(name[i-1]):
		default:
			return false
		}
	}
	return true
}

// sharedWords returns how many of the letters of two names are in words that
// both have in the same order, in percent; 0 if want cannot mean name.
func (l *Names) sharedWords(want, name []string, leftOut bool) int {
	total := 0
	for _, w := range want {
		total += len(w)
	}
	for _, w := range name {
		total += len(w)
	}
	// The longest common subsequence, weighted by letters.
	type cell struct{ letters, words int }
	row := make([]cell, len(name)+1)
	for _, w := range want {
		diagonal, isShared := row[0], false
		for j, v := range name {
			above := row[j+1]
			best := above
			if row[j].letters > best.letters {
				best = row[j]
			}
			if s := sameWord(w, v); s > 0 {
				isShared = true
				if diagonal.letters+s > best.letters {
					best = cell{diagonal.letters + s, diagonal.words + 1}
				}
			}
			diagonal, row[j+1] = above, best
		}
		if !isShared && (leftOut || l.isKnown(w)) {
			return 0
		}
	}
	if replacesWord(want, name) {
		return 0
	}
	got := row[len(name)]
	if got.words < enoughWords || leftOut && got.words < len(want) {
		return 0
	}
	return got.letters * 100 / total
}

// replacesWord reports whether each name has a word without a form of it in the other:
// upgrade for install, enable for disable. Words of up to three letters, such as
// the and for, carry no meaning.
func replacesWord(want, name []string) bool {
	lacks := func(all, other []string) bool {
		return slices.ContainsFunc(all, func(w string) bool {
			return len(w) > 3 && !slices.ContainsFunc(other, func(v string) bool { return sameWord(w, v) > 0 })
		})
	}
	return lacks(want, name) && lacks(name, want)
}

// sameWord returns the letters that two words share if they are forms of one
// word: equal, or with another ending.
func sameWord(a, b string) int {
	if a == b {
		return len(a) + len(b)
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n >= 4 && 3*n >= 2*max(len(a), len(b)) && !isNumeric(a[0]) {
		return 2 * n
	}
	return 0
}
