package scan

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// oracle does what CSSURLs does, token by token as in
// https://www.w3.org/TR/css-syntax-3/#consume-token. It is slow.
func oracle(text string) []string {
	var (
		found     []string
		functions []string // open, from the first image-set on
		condition bool
		tokens    = oracleTokens(text)
		// The rules at the start of the sheet, up to one after which no @import
		// counts.
		late, imported bool
		start, braces  = 0, 0
		rule           string
	)
	begins := func(i int) bool {
		if rule == "" && !oracleBlank(tokens[start:i]) {
			rule = "qualified"
		}
		return rule == ""
	}
	emit := func(prefix, value string) {
		if value != "" && !condition {
			found = append(found, prefix+value)
		}
	}
	open := func(name string) {
		if len(functions) > 0 || name == "image-set" || name == "-webkit-image-set" {
			functions = append(functions, name)
		}
	}
	for i := 0; i < len(tokens); i++ {
		tok := tokens[i]
		prefix := ""
		if tok.kind == "at" {
			first := !late && begins(i)
			if first {
				rule = "@" + tok.value
			}
			switch tok.value {
			case "namespace", "supports", "document", "-moz-document":
				condition = true
			case "import":
				if !first {
					condition = true
					continue
				}
				for i++; i < len(tokens) && (tokens[i].kind == "space" || tokens[i].kind == "comment"); i++ {
				}
				if i == len(tokens) {
					return found
				}
				tok = tokens[i]
				isURL := tok.kind == "url" || tok.kind == "bad-url" || tok.kind == "function" && tok.value == "url"
				if isURL || tok.kind == "string" || tok.kind == "bad-string" {
					prefix = "import "
				} else {
					i--
					continue
				}
			}
		}
		switch tok.kind {
		case "url":
			emit(prefix, tok.value)
		case "function", "(":
			open(tok.value)
			if tok.value == "url" {
				j := i + 1
				for j < len(tokens) && tokens[j].kind == "space" {
					j++
				}
				if i = j; tokens[j].kind == "string" { // or bad-string: nothing else follows the function
					emit(prefix, tokens[j].value)
				}
			}
		case "string":
			innermost := ""
			if len(functions) > 0 {
				innermost = functions[len(functions)-1]
			}
			inSet := innermost == "image-set" || innermost == "-webkit-image-set"
			if prefix != "" || inSet && len(functions) < 64 {
				emit(prefix, tok.value)
			}
		case ")":
			functions = functions[:max(len(functions)-1, 0)]
		case ";", "{", "}":
			functions, condition = nil, false
			if late {
				break
			}
			none := begins(i)
			ends := false
			switch {
			case tok.kind == "{":
				if none || braces == 0 && rule == "qualified" && !isSelector([]byte(text[tokens[start].at:tok.at])) {
					rule = "invalid"
				}
				braces++
			case tok.kind == "}" && braces > 0:
				braces--
				ends = braces == 0
			case tok.kind == ";" && braces == 0 && strings.HasPrefix(rule+" ", "@"), tok.kind == ";" && braces == 0 && rule == "invalid":
				ends = true
			case none:
				rule = "qualified"
			}
			if !ends {
				break
			}
			switch name := strings.TrimPrefix(rule, "@"); {
			case name == "import":
				imported = imported || tok.kind == ";"
			case name == "layer":
				late = imported || tok.kind == "}"
			case name == "namespace":
				late = tok.kind == ";"
			case rule == "qualified", strings.HasPrefix(rule, "@") && ruleOf([]byte(name)) == blockRule:
				late = tok.kind == "}"
			}
			start, rule = i+1, ""
		}
		if prefix != "" {
			condition = true
		}
	}
	return found
}

// oracleBlank reports whether the tokens have no meaning at the start of a
// sheet.
func oracleBlank(tokens []oracleToken) bool {
	var text strings.Builder
	for _, tok := range tokens {
		switch tok.kind {
		case "space", "comment", "CDC":
		default:
			text.WriteString(tok.kind + tok.value)
		}
	}
	return strings.ReplaceAll(text.String(), "<!ident--", "") == ""
}

// An oracleToken is a token. Names are in lower case, and escapes are decoded.
type oracleToken struct {
	kind, value string
	at          int
}

// oracleTokens splits text into tokens.
func oracleTokens(text string) (tokens []oracleToken) {
	at := func(i int) byte {
		if i < len(text) {
			return text[i]
		}
		return '\n' // which begins no name and no escape
	}
	newline := func(c byte) bool { return c == '\n' || c == '\r' || c == '\f' }
	space := func(c byte) bool { return newline(c) || c == ' ' || c == '\t' }
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	nameStart := func(c byte) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80 || c == 0
	}
	escape := func(i int) bool { return at(i) == '\\' && (i+1 == len(text) || !newline(at(i+1))) }
	ident := func(i int) bool {
		if at(i) == '-' {
			return nameStart(at(i+1)) || at(i+1) == '-' || i+1 < len(text) && escape(i+1)
		}
		return i < len(text) && (nameStart(at(i)) || escape(i))
	}
	number := func(i int) bool {
		if at(i) == '+' || at(i) == '-' {
			i++
		}
		return digit(at(i)) || at(i) == '.' && digit(at(i+1))
	}
	consumeEscape := func(i int) (value string, next int) {
		i++
		if i == len(text) {
			return "\ufffd", i
		}
		j := i
		for j < len(text) && j < i+6 && strings.IndexByte("0123456789abcdefABCDEF", text[j]) >= 0 {
			j++
		}
		if j == i {
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == 0 {
				r = '\ufffd'
			}
			return string(r), i + n
		}
		var code int
		fmt.Sscanf(text[i:j], "%x", &code)
		if code == 0 || code > 0x10ffff || 0xd800 <= code && code < 0xe000 {
			code = 0xfffd
		}
		if strings.HasPrefix(text[j:], "\r\n") {
			j++
		}
		if j < len(text) && space(text[j]) {
			j++
		}
		return string(rune(code)), j
	}
	consumeName := func(i int) (name string, next int) {
		var b bytes.Buffer
		for i < len(text) {
			c := text[i]
			switch {
			case nameStart(c), digit(c), c == '-':
				b.WriteByte(c)
				i++
			case escape(i):
				var s string
				s, i = consumeEscape(i)
				b.WriteString(s)
			default:
				return lower(b.String()), i
			}
		}
		return lower(b.String()), i
	}
	consumeURL := func(i int) (tok oracleToken, next int) {
		tok.kind = "url"
		var b bytes.Buffer
		for i < len(text) && space(text[i]) {
			i++
		}
		for i < len(text) && text[i] != ')' {
			c := text[i]
			switch {
			case tok.kind == "bad-url" && escape(i):
				_, i = consumeEscape(i)
			case tok.kind == "bad-url":
				i++
			case space(c):
				for i < len(text) && space(text[i]) {
					i++
				}
				if i < len(text) && text[i] != ')' {
					tok.kind = "bad-url"
				}
			case c == '"', c == '\'', c == '(', c > 0 && c < ' ', c == 0x7f, c == '\\' && !escape(i):
				tok.kind = "bad-url"
			case c == '\\':
				var s string
				s, i = consumeEscape(i)
				b.WriteString(s)
			default:
				b.WriteByte(c)
				i++
			}
		}
		tok.value = b.String()
		return tok, min(i+1, len(text))
	}
	for i := 0; i < len(text); {
		c := text[i]
		start := i
		tok := oracleToken{kind: string(rune(c)), at: start}
		switch {
		case strings.HasPrefix(text[i:], "/*"):
			tok.kind = "comment"
			if n := strings.Index(text[i+2:], "*/"); n >= 0 {
				i += 2 + n + 2
			} else {
				i = len(text)
			}
		case space(c):
			tok.kind = "space"
			i++
		case c == '"' || c == '\'':
			tok.kind = "string"
			var b bytes.Buffer
			for i++; i < len(text) && text[i] != c; {
				if newline(text[i]) {
					tok.kind = "bad-string"
					break
				}
				if text[i] != '\\' {
					b.WriteByte(text[i])
					i++
				} else if i+1 == len(text) {
					i++
				} else if strings.HasPrefix(text[i+1:], "\r\n") {
					i += 3
				} else if newline(text[i+1]) {
					i += 2
				} else {
					var s string
					s, i = consumeEscape(i)
					b.WriteString(s)
				}
			}
			if i < len(text) && text[i] == c {
				i++
			}
			tok.value = b.String()
		case c == '#' && (nameStart(at(i+1)) || digit(at(i+1)) || at(i+1) == '-' || i+1 < len(text) && escape(i+1)):
			tok.kind = "hash"
			_, i = consumeName(i + 1)
		case c == '@' && ident(i+1):
			tok.kind = "at"
			tok.value, i = consumeName(i + 1)
		case number(i):
			tok.kind = "number"
			i++
			if c == '+' || c == '-' {
				// Only the sign has been read; a digit or dot follows.
				i++
			}
			dot := text[i-1] == '.'
			for digit(at(i)) || at(i) == '.' && digit(at(i+1)) && !dot {
				dot = dot || text[i] == '.'
				i++
			}
			if e := at(i) | 0x20; e == 'e' {
				j := i + 1
				if at(j) == '+' || at(j) == '-' {
					j++
				}
				if digit(at(j)) {
					for i = j; digit(at(i)); i++ {
					}
				}
			}
			if i < len(text) && ident(i) {
				_, i = consumeName(i)
			} else if at(i) == '%' {
				i++
			}
		case strings.HasPrefix(text[i:], "-->"):
			tok.kind = "CDC"
			i += 3
		case ident(i):
			tok.kind = "ident"
			tok.value, i = consumeName(i)
			if at(i) != '(' {
				break
			}
			i++
			tok.kind = "function"
			if tok.value == "url" {
				j := i
				for j < len(text) && space(text[j]) {
					j++
				}
				if at(j) != '"' && at(j) != '\'' {
					tok, i = consumeURL(i)
					tok.at = start
				}
			}
		default:
			i++
		}
		if i <= start {
			panic("the oracle makes no progress")
		}
		tokens = append(tokens, tok)
	}
	return tokens
}

// lower returns s with its ASCII letters in lower case.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
