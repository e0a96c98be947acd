package destination

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/text"
)

// Encode returns the bytes that stand for a value in place of the destination.
// They may have quotes or brackets of their own, if the author wrote none and
// the value needs them. The error says why a value cannot be written there.
func (l *Destination) Encode(value string) (string, error) {
	if i := strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
		return "", l.refuse(value, "the new address has a control character")
	}
	if !utf8.ValidString(value) {
		return "", l.refuse(value, "the new address is not UTF-8")
	}
	if strings.TrimSpace(value) != value {
		return "", l.refuse(value, "the new address begins or ends with white space")
	}
	if strings.Contains(value, "{{") {
		return "", l.refuse(value, "the new address would begin a shortcode or an action")
	}
	value = l.inStyle(value)
	var raw string
	var err error
	switch l.Form {
	case read.FormInline, read.FormDefinition:
		raw = l.markdown(value)
	case read.FormAutolink:
		raw, err = l.autolink(value)
	case read.FormHTML:
		raw, err = l.attribute(value)
	case read.FormMatter, read.FormData:
		raw, err = l.scalar(value)
	case read.FormCSS:
		raw = l.css(value)
	case read.FormComponent:
		if raw = value; value == "" || strings.ContainsAny(value, " \t\"'`<>{}") {
			err = l.refuse(value, "an attribute of a component cannot hold the new address")
		}
	case read.FormShortcode, read.FormString:
		raw, err = l.quoted(value)
	default: // Word, Rule
		if raw = value; value == "" || strings.ContainsAny(value, " \t\"'`<>()[]{}|,;=") {
			err = l.refuse(value, "a word cannot hold the new address")
		}
	}
	if err != nil {
		return "", err
	}
	// The bytes must give the value again. Quotes and brackets that were added
	// are not part of it.
	inner, bare := *l, raw
	for _, q := range []string{"<>", `""`} {
		if n := len(raw); n > 1 && l.before != q[0] && raw[0] == q[0] && raw[n-1] == q[1] {
			inner.before, bare = q[0], raw[1:n-1]
		}
	}
	if l.Form != read.FormAutolink && inner.decode(bare) != value {
		return "", l.refuse(value, "the new address cannot be escaped")
	}
	return raw, nil
}

func (l *Destination) refuse(value, why string) error {
	return fmt.Errorf("%s: %q in place of %q", why, value, l.Value)
}

var percentRun = text.Regexp(`(?:%[89A-Fa-f][0-9A-Fa-f])+`)

// inStyle returns a value in the author's way of writing: with letters that are
// not ASCII, or with spaces, instead of their percent-encoding.
func (l *Destination) inStyle(value string) string {
	plain, escaped := false, percentRun().MatchString(l.Value)
	for i := range len(l.Value) {
		plain = plain || l.Value[i] >= utf8.RuneSelf
	}
	if plain && !escaped {
		value = percentRun().ReplaceAllStringFunc(value, func(run string) string {
			if s := PercentDecoded(run); utf8.ValidString(s) {
				return s
			}
			return run
		})
	}
	if strings.Contains(l.Value, " ") && !strings.Contains(l.Value, "%20") {
		value = strings.ReplaceAll(value, "%20", " ")
	}
	return value
}

// reference matches what HTML and Markdown may read as a character reference.
var reference = text.Regexp(`&(?:#[0-9]|#[xX][0-9a-fA-F]|[a-zA-Z])`)

// ampersands escapes the ampersands of a value: all of them if the author does
// so, otherwise those that would be read as character references.
func (l *Destination) ampersands(value string) string {
	if strings.Contains(strings.ToLower(l.raw), "&amp;") {
		return strings.ReplaceAll(value, "&", "&amp;")
	}
	return reference().ReplaceAllStringFunc(value, func(s string) string {
		rest := value[strings.Index(value, s):]
		if html.UnescapeString(rest) == rest {
			return s
		}
		return "&amp;" + s[1:]
	})
}

// markdown writes a link destination.
func (l *Destination) markdown(value string) string {
	bracketed := l.before == '<'
	brackets := !bracketed && (value == "" || strings.Contains(value, " "))
	special := "()`|"
	if bracketed || brackets {
		special = "<>`|"
	}
	if balanced(value) {
		special = strings.Trim(special, "()")
	}
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		punctuation := i+1 < len(value) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", value[i+1]) >= 0
		if strings.IndexByte(special, c) >= 0 || c == '\\' && (punctuation || i+1 == len(value)) || (c == '<' || c == '>') && i == 0 && !brackets {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	raw := l.ampersands(b.String())
	if brackets {
		raw = "<" + raw + ">"
	}
	return raw
}

// balanced reports whether the parentheses of a value are balanced.
func balanced(value string) bool {
	depth := 0
	for _, c := range value {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

var absolute = text.Regexp(`^[a-zA-Z][a-zA-Z0-9+.-]{1,31}:`)

// autolink writes an address in angle brackets, or a bare one.
func (l *Destination) autolink(value string) (string, error) {
	switch {
	case strings.ContainsAny(value, " <>"), !absolute().MatchString(value):
		return "", l.refuse(value, "an autolink needs a whole address with its scheme")
	case l.before != '<' && (!strings.HasPrefix(value, "http") || strings.ContainsAny(value[len(value)-1:], "?!.,:*_~'\");")):
		return "", l.refuse(value, "Markdown would not read the new address as a bare one")
	}
	for _, scheme := range []string{"mailto:", "http://"} {
		if l.Value == scheme+l.raw {
			value = strings.TrimPrefix(value, scheme)
		}
	}
	return value, nil
}

// attribute writes the value of an attribute, or an address in it.
func (l *Destination) attribute(value string) (string, error) {
	if l.inside {
		if value == "" || strings.ContainsAny(value, " \t,;()\"'<>`\\") {
			return "", l.refuse(value, "the attribute holds more than this address")
		}
		return l.ampersands(value), nil
	}
	raw := l.ampersands(value)
	switch l.before {
	case '"':
		return strings.ReplaceAll(raw, `"`, "&quot;"), nil
	case '\'':
		return strings.ReplaceAll(raw, "'", "&#39;"), nil
	}
	if value == "" || strings.ContainsAny(value, " \t\"'=<>`") {
		return `"` + strings.ReplaceAll(raw, `"`, "&quot;") + `"`, nil
	}
	return raw, nil
}

// scalar writes a string of YAML, TOML or JSON.
func (l *Destination) scalar(value string) (string, error) {
	if strings.ContainsAny(value, `"\`) {
		return "", l.refuse(value, "data files would need escapes for the new address")
	}
	switch l.before {
	case '"':
		return l.escapeJSON(value), nil
	case '\'', '`':
		if strings.IndexByte(value, l.before) >= 0 {
			return "", l.refuse(value, "the new address has the quote that ends the string")
		}
		return value, nil
	}
	if isPlain(value) {
		return value, nil
	}
	if strings.HasSuffix(l.file, ".csv") {
		return "", l.refuse(value, "a field without quotes cannot hold the new address")
	}
	return `"` + l.escapeJSON(value) + `"`, nil
}

// isPlain reports whether YAML reads a value without quotes as that string.
func isPlain(value string) bool {
	if value == "" || strings.ContainsAny(value, ",[]{}\"`") || strings.Contains(value, ": ") || strings.Contains(value, " #") || strings.HasSuffix(value, ":") {
		return false
	}
	return strings.IndexByte("!&*?|>'%@#-: ~", value[0]) < 0 && value[len(value)-1] != ' '
}

// escapeJSON escapes a string as the author of the old one does.
func (l *Destination) escapeJSON(value string) string {
	if strings.Contains(l.raw, `\/`) {
		value = strings.ReplaceAll(value, "/", `\/`)
	}
	if strings.Contains(l.raw, `\u0026`) {
		value = strings.ReplaceAll(value, "&", `\u0026`)
	}
	return value
}

// quoted writes an argument in quotes, or one that has none.
func (l *Destination) quoted(value string) (string, error) {
	switch q := l.before; q {
	case '"', '`', '\'':
		if strings.IndexByte(value, q) >= 0 || strings.Contains(value, `\`) && q == '"' {
			return "", l.refuse(value, "the new address has a character that the quotes cannot hold")
		}
		return value, nil
	}
	if value == "" || strings.ContainsAny(value, " \t\"`'=<>{}%") {
		if strings.ContainsAny(value, `"\`) || l.Form != read.FormShortcode {
			return "", l.refuse(value, "an argument without quotes cannot hold the new address")
		}
		return `"` + value + `"`, nil
	}
	return value, nil
}

// css writes a URL with or without quotes.
func (l *Destination) css(value string) string {
	special := `\` + string(l.before)
	if l.before != '"' && l.before != '\'' {
		if value == "" {
			return `""`
		}
		special = "\\()\"' \t"
	}
	var b strings.Builder
	for i := range len(value) {
		if strings.IndexByte(special, value[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

var cssEscape = text.Regexp(`(?s)\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|\r\n|(.))`)
