package html

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
)

// TestIndex: for any text, the index has every "<" and double quote in order,
// and does not call a special byte plain. With vector instructions it has
// nothing else.
func TestIndex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	alphabet := []byte("<\"&\r\x00\x80\xff#=! <\"abcdefghijklmnop>/'")
	for round := range 300 {
		text := make([]byte, 64*(1+rnd.IntN(8)))
		for i := range text {
			switch round % 3 {
			case 0:
				text[i] = byte(rnd.Uint32())
			case 1:
				text[i] = alphabet[rnd.IntN(len(alphabet))]
			default:
				text[i] = "<\""[rnd.IntN(2)]
			}
		}
		const base = 1<<32 - 1<<16
		for _, c := range []struct {
			name  string
			exact bool
			index func(text []byte, base uint32, at []uint32, special []uint64) int
		}{{"classify", haveVectors, classify}, {"classifyGo", false, classifyGo}} {
			at, special := make([]uint32, len(text)+8), make([]uint64, len(text)/64)
			at = at[:c.index(text, base, at, special)]
			if !slices.IsSorted(at) || len(slices.Compact(slices.Clone(at))) != len(at) {
				t.Fatalf("%s(%q): offsets %d are not in order", c.name, text, at)
			}
			for i, b := range text {
				_, found := slices.BinarySearch(at, base+uint32(i))
				if mark := b == '<' || b == '"'; mark && !found || c.exact && found && !mark {
					t.Fatalf("%s(%q): byte %d, %q: found %v", c.name, text, i, b, found)
				}
				bit := special[i/64]>>(i%64)&1 != 0
				if is := scan.ValueClass[b] != 0; is && !bit || c.exact && bit && !is {
					t.Fatalf("%s(%q): byte %d, %q: special %v", c.name, text, i, b, bit)
				}
			}
		}
	}
}

// TestIndexWrites: for any text, at most eight offsets are written after the
// last one, and one bit for each byte of text.
func TestIndexWrites(t *testing.T) {
	const blocks, base, untouched = 3, 1000, 0x7E57
	for _, b := range []byte("<\"&x\x00\xff") {
		for shift := range 64 {
			text := slices.Repeat([]byte{'<'}, shift+blocks*64+64)
			copy(text[shift:], slices.Repeat([]byte{b}, blocks*64))
			at, special := make([]uint32, blocks*64+64), make([]uint64, blocks+8)
			for i := range at {
				at[i] = untouched
			}
			for i := range special {
				special[i] = untouched
			}
			n := classify(text[shift:][:blocks*64], base, at, special[:blocks])
			if want := b == '<' || b == '"'; want != (n == blocks*64) || !want && n != 0 {
				t.Fatalf("%q, %d blocks: %d offsets", b, blocks, n)
			}
			for i, offset := range at {
				if i < n && offset != base+uint32(i) || i >= n+8 && offset != untouched {
					t.Fatalf("%q, shift %d: offset %d of %d is %d", b, shift, i, n, offset)
				}
			}
			for i, word := range special[blocks:] {
				if word != untouched {
					t.Fatalf("%q, shift %d: word %d behind special is %#x", b, shift, i, word)
				}
			}
		}
	}
}

// TestIndexPlain: a value is plain if none of its bytes is special, wherever it
// begins and however long it is.
func TestIndexPlain(t *testing.T) {
	if !haveVectors {
		t.Skip("without vector instructions all values count as special")
	}
	text := make([]byte, 400)
	for i := range text {
		text[i] = 'x'
	}
	text[200] = '&'
	x := new(index)
	x.fill(text, 10)
	for start := 10; start < len(text); start++ {
		for end := start; end <= len(text); end++ {
			if got, want := x.plain(start, end), start > 200 || end <= 200; got != want {
				t.Fatalf("plain(%d, %d) = %v", start, end, got)
			}
		}
	}
}
