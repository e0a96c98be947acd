package layout

import (
	"strings"
)

// action is the effect of an action on the structure of a page.
type action struct {
	kind actionKind
	// name is the name of the called template or of the block.
	name string
	// arg is the data passed to the template, as written; only in Go templates.
	arg string
	// cached: the output is produced once and reused for all pages.
	cached bool
	// guarded: the call happens only if the template exists.
	guarded bool
}

type actionKind uint8

const (
	// plain writes a value, or nothing.
	plain actionKind = iota
	// opens starts a part that may be written never, once or several times.
	opens
	// rebinds is opens with another value of the dot; only in Go templates.
	rebinds
	// turns is an else.
	turns
	// closes ends what opens, rebinds, blocks or defines began.
	closes
	// guards opens a part that is written if a template exists; only in Hugo.
	guards
	// blocks starts a part that another template may replace.
	blocks
	// defines starts a template that is written only where it is called.
	defines
	// calls writes another template.
	calls
	// extends: the file is a part of the template that it names.
	extends
)

func (l Language) action(code string) action {
	if l == Go {
		return goAction(code)
	}
	return braceAction(code)
}

func firstWord(code string) string {
	word, _, _ := strings.Cut(code, " ")
	if i := strings.IndexAny(word, "\t\r\n("); i >= 0 {
		word = word[:i]
	}
	return word
}

func goAction(code string) action {
	words := fields(code)
	if len(words) == 0 {
		return action{}
	}
	switch words[0] {
	case "if":
		if len(words) > 1 && strings.HasPrefix(strings.TrimLeft(words[1], "("), "templates.Exists") {
			return action{kind: guards}
		}
		return action{kind: opens}
	case "with", "range":
		return action{kind: rebinds}
	case "else":
		return action{kind: turns}
	case "end":
		return action{kind: closes}
	case "define", "block":
		if len(words) < 2 {
			break
		}
		a := action{kind: defines, name: unquote(words[1])}
		if words[0] == "block" {
			a.kind = blocks
			a.arg = strings.Join(words[2:], " ")
		}
		return a
	case "template", "partial", "partialCached", "partials.Include", "partials.IncludeCached":
		if len(words) < 2 || unquote(words[1]) == "" {
			break
		}
		a := action{kind: calls, name: unquote(words[1]), cached: strings.HasSuffix(words[0], "Cached")}
		if len(words) > 2 {
			a.arg = words[2]
		}
		if strings.ContainsRune(code, '|') && !strings.HasSuffix(code, "| safeHTML") {
			break // a filter changes the output
		}
		return a
	}
	return action{}
}

// opening are the tags of Liquid, Jinja, Nunjucks and Tera that have an end tag.
// Captured or defined text is not written at its own place.
var opening = map[string]actionKind{
	"if": opens, "unless": opens, "for": opens, "case": opens, "with": opens, "tablerow": opens,
	"asyncEach": opens, "asyncAll": opens, "filter": opens, "call": opens, "autoescape": opens, "trans": opens,
	"highlight": opens, "shortcode": opens, "paired": opens,
	"capture": defines, "macro": defines,
	"block": blocks,
}

func braceAction(code string) action {
	words := fields(code)
	if len(words) == 0 {
		return action{}
	}
	switch word := words[0]; word {
	case "else", "elsif", "elif", "elseif", "when":
		return action{kind: turns}
	case "include", "include_relative", "include_cached", "render":
		if len(words) < 2 {
			break
		}
		name := words[1]
		if quoted := unquote(name); quoted != "" {
			name = quoted
		} else if strings.ContainsAny(name, "{[(") {
			break // computed
		}
		return action{kind: calls, name: name, cached: word == "include_cached", guarded: strings.Contains(code, "ignore missing")}
	case "extends":
		if len(words) > 1 {
			return action{kind: extends, name: unquote(words[1])}
		}
	case "set":
		if !strings.ContainsRune(code, '=') { // a block of Nunjucks and Jinja
			return action{kind: defines}
		}
	default:
		if strings.HasPrefix(word, "end") {
			return action{kind: closes, name: word[len("end"):]}
		}
		if kind, ok := opening[word]; ok {
			a := action{kind: kind}
			if len(words) > 1 {
				a.name = words[1]
			}
			return a
		}
	}
	return action{}
}

// fields splits code at white space outside strings and brackets.
func fields(code string) []string {
	var words []string
	depth, start := 0, -1
	for i := 0; i <= len(code); i++ {
		if i == len(code) || depth == 0 && isSpace(code[i]) {
			if start >= 0 {
				words = append(words, code[start:i])
				start = -1
			}
			continue
		}
		if start < 0 {
			start = i
		}
		switch code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '"', '\'', '`':
			end := skipString([]byte(code), i, code[i] != '`')
			i = min(end, len(code)-1)
		}
	}
	return words
}

// unquote returns the text between quotes, or "" when word is not quoted.
func unquote(word string) string {
	if len(word) < 2 || word[0] != word[len(word)-1] || !strings.ContainsRune("\"'`", rune(word[0])) {
		return ""
	}
	return word[1 : len(word)-1]
}
