package report

// appendXML appends s as XML text or attribute value. s has been through
// appendQuoted: what XML 1.0 cannot hold at all is already spelled out.
func appendXML(dst []byte, s []byte) []byte {
	for _, c := range s {
		switch c {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&#34;"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendAttribute appends name="value" with a space before it. The value is
// quoted as in text.
func appendAttribute(dst []byte, name, value string) []byte {
	return appendAttributeBytes(dst, name, appendQuoted(nil, value))
}

// appendAttributeBytes is appendAttribute for a value that is quoted already.
func appendAttributeBytes(dst []byte, name string, value []byte) []byte {
	dst = append(dst, ' ')
	dst = append(dst, name...)
	dst = append(dst, `="`...)
	dst = appendXML(dst, value)
	return append(dst, '"')
}

func appendIntAttribute(dst []byte, name string, n int) []byte {
	dst = append(dst, ' ')
	dst = append(dst, name...)
	dst = appendIntField(dst, `="`, n)
	return append(dst, '"')
}
