package weburl

// canonClass is what the canonical form wants to know of a byte.
type canonClass uint8

const (
	passPath      canonClass = 1 << iota // stands for itself in a path
	passSemicolon                        // the ';', which does so where it begins no parameters
	passArgument                         // in arguments, escaped or not
	argumentRole                         // in arguments, if it came unescaped: it has a meaning there
	passPassword                         // in user names and passwords
	inHost                               // in host names
	isSpace
)

// canonClasses are WWWOFFLE's tables of what is not percent-encoded where.
var canonClasses = buildCanonClasses()

func buildCanonClasses() (t [256]canonClass) {
	add := func(chars string, c canonClass) {
		for i := 0; i < len(chars); i++ {
			t[chars[i]] |= c
		}
	}
	const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	add(digits+lower+upper, passPath|passArgument|passPassword)
	add(digits+lower+"-._", inHost)
	add("!$()*+,-./:=_~", passPath)
	add(";", passSemicolon)
	add("!$()*,-./:_~|", passArgument)
	add("&=;+?", argumentRole)
	add("!$*+,-.=_~", passPassword)
	add(" ", isSpace)
	return t
}

// EncodePath appends s with everything percent-encoded that is not written as
// itself in a canonical path.
func EncodePath(dst []byte, s string) []byte { return appendCanon(dst, s, passPath) }

// EncodePassword is [EncodePath] for a user name or a password.
func EncodePassword(dst []byte, s string) []byte { return appendCanon(dst, s, passPassword) }

// EncodeArgument is [EncodePath] for one name or value of form data, with '+'
// for a space. Its output is at home in application/x-www-form-urlencoded.
func EncodeArgument(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' {
			dst = append(appendCanon(dst, s[start:i], passArgument), '+')
			start = i + 1
		}
	}
	return appendCanon(dst, s[start:], passArgument)
}

func appendCanon(dst []byte, s string, pass canonClass) []byte {
	for i := 0; i < len(s); i++ {
		if b := s[i]; canonClasses[b]&pass != 0 {
			dst = append(dst, b)
		} else {
			dst = appendByte(dst, b)
		}
	}
	return dst
}

// RecodeArguments appends arguments in their canonical form: escapes of what
// needs none are decoded, all that needs one is escaped, '+' is a space, and
// & = ; + ? keep their role if they came without escape and are text if they
// came with one. A '%' that begins no escape is the character.
func RecodeArguments(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		start := i
		for i < len(s) && canonClasses[s[i]]&(passArgument|argumentRole) != 0 {
			i++
		}
		dst = append(dst, s[start:i]...)
		if i == len(s) {
			break
		}
		b, escaped := unescape(s, i)
		if escaped {
			i += 2
		}
		switch {
		case canonClasses[b]&passArgument != 0:
			dst = append(dst, b)
		case b == ' ':
			dst = append(dst, '+')
		default:
			dst = appendByte(dst, b)
		}
	}
	return dst
}

// unescape returns the byte that stands at s[i], as itself or as an escape.
func unescape(s string, i int) (b byte, escaped bool) {
	if s[i] == '%' && i+2 < len(s) {
		if hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2]); hi|lo < 16 {
			return hi<<4 | lo, true
		}
	}
	return s[i], false
}

// DecodeArgument appends a name or a value of form data, decoded once: [PercentDecode]
// with '+' for a space.
func DecodeArgument(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '+' {
			dst = append(PercentDecode(dst, s[start:i]), ' ')
			start = i + 1
		}
	}
	return PercentDecode(dst, s[start:])
}
