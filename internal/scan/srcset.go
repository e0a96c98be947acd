package scan

// srcset calls emit with the half-open byte range of each candidate's URL in
// value, in order. The value is a srcset or imagesrcset attribute with its
// character references decoded; any bytes will do. It allocates nothing and
// takes time linear in len(value).
//
// A browser drops a candidate whose descriptors it cannot use ("a.png 1q").
// Its URL is emitted all the same: the author wrote it to be fetched, and
// which descriptors count has changed over time.
//
// Spec: HTML, https://html.spec.whatwg.org/multipage/images.html#parse-a-srcset-attribute
func srcset(value []byte, emit func(start, end int)) {
	for i := 0; ; {
		for i < len(value) && (value[i] == ',' || isASCIISpace(value[i])) {
			i++
		}
		if i == len(value) {
			return
		}
		start := i
		for i < len(value) && !isASCIISpace(value[i]) {
			i++
		}
		end := i
		// Commas inside a URL belong to it (data:), those at its end close
		// the candidate. The first byte is no comma, so the loop stops.
		for value[end-1] == ',' {
			end--
		}
		emit(start, end)
		if end == i {
			i = srcsetDescriptors(value, i)
		}
	}
}

// srcsetDescriptors returns the offset behind the comma that ends the
// descriptors beginning at i, or len(value). Commas in parentheses are kept
// for future descriptors; parentheses do not nest, and one that is never
// closed takes the rest.
func srcsetDescriptors(value []byte, i int) int {
	parens := false
	for ; i < len(value); i++ {
		switch value[i] {
		case '(':
			parens = true
		case ')':
			parens = false
		case ',':
			if !parens {
				return i + 1
			}
		}
	}
	return i
}

// isASCIISpace tells whether c is ASCII whitespace in the sense of HTML, CSS
// and URL: tab, line feed, form feed, carriage return or space, no vertical
// tab. https://infra.spec.whatwg.org/#ascii-whitespace
func isASCIISpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}
