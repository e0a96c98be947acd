package scan

import "golang.org/x/net/html"

// folding collects text with its white space folded.
type folding struct {
	dst   []byte
	from  int  // where the text begins in dst
	space bool // white space is due before what comes next
}

// foldClass: 1 is white space, 2 begins a character reference.
var foldClass = func() (t [256]uint8) {
	for _, c := range asciiSpace {
		t[c] = 1
	}
	t['&'] = 2
	return t
}()

// add adds text, whose character references are decoded if refs is set.
func (f *folding) add(text []byte, refs bool) {
	for i := 0; i < len(text); {
		c := text[i]
		if foldClass[c] == 1 {
			f.space = true
			i++
			continue
		}
		if c == '&' && refs {
			i += f.reference(text[i:])
			continue
		}
		// As it stands: single spaces between words, too.
		j := i + 1
		for j < len(text) {
			if class := foldClass[text[j]]; class == 0 || class == 2 && !refs {
				j++
			} else if text[j] == ' ' && j+1 < len(text) && foldClass[text[j+1]] == 0 {
				j += 2
			} else {
				break
			}
		}
		f.put(text[i:j])
		i = j
	}
}

func (f *folding) put(word []byte) {
	if f.space && len(f.dst) > f.from {
		f.dst = append(f.dst, ' ')
	}
	f.space = false
	f.dst = append(f.dst, word...)
}

// reference adds what the character reference at the start of b means, and
// returns its length.
func (f *folding) reference(b []byte) int {
	n := 1
	if n < len(b) && b[n] == '#' {
		n++
	}
	for n < len(b) && isAlnum(b[n]) {
		n++
	}
	if n < len(b) && b[n] == ';' {
		n++
	}
	switch string(b[:n]) {
	case "&lt;":
		f.put([]byte{'<'})
	case "&gt;":
		f.put([]byte{'>'})
	case "&amp;":
		f.put([]byte{'&'})
	case "&quot;", "&#34;":
		f.put([]byte{'"'})
	case "&#39;", "&#x27;":
		f.put([]byte{'\''})
	default:
		// What stands after the name decides nothing in text (HTML 13.2.5.73).
		f.add([]byte(html.UnescapeString(string(b[:n]))), false)
	}
	return n
}
