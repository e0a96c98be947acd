package html

import (
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
)

// quirksDoctype reports whether a doctype puts the document into quirks mode
// (HTML 13.2.6.4.1). text is the text between "<!" and ">".
func quirksDoctype(text string) bool {
	rest := text[len("doctype"):]
	rest = strings.TrimLeft(rest, scan.Space)
	name := rest
	if k := strings.IndexAny(rest, scan.Space); k >= 0 {
		name, rest = rest[:k], strings.TrimLeft(rest[k:], scan.Space)
	} else {
		rest = ""
	}
	if !strings.EqualFold(name, "html") {
		return true
	}
	if rest == "" {
		return false
	}
	public, system := "", ""
	hasSystem, ok := false, true
	switch {
	case len(rest) >= 6 && strings.EqualFold(rest[:6], "public"):
		if public, rest, ok = identifier(rest[6:]); !ok {
			return true
		}
		if strings.TrimLeft(rest, scan.Space) != "" {
			if system, _, hasSystem = identifier(rest); !hasSystem {
				return true
			}
		}
	case len(rest) >= 6 && strings.EqualFold(rest[:6], "system"):
		if system, _, hasSystem = identifier(rest[6:]); !hasSystem {
			return true
		}
	default:
		return true // force-quirks
	}
	public, system = strings.ToLower(public), strings.ToLower(system)
	switch public {
	case "-//w3o//dtd w3 html strict 3.0//en//", "-/w3c/dtd html 4.0 transitional/en", "html":
		return true
	}
	if system == "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd" {
		return true
	}
	for _, p := range quirksPrefixes {
		if strings.HasPrefix(public, p) {
			return true
		}
	}
	return !hasSystem && (strings.HasPrefix(public, "-//w3c//dtd html 4.01 frameset//") ||
		strings.HasPrefix(public, "-//w3c//dtd html 4.01 transitional//"))
}

// identifier reads a quoted identifier. ok is false if it is missing or not
// closed, which also means quirks mode.
func identifier(s string) (id, rest string, ok bool) {
	s = strings.TrimLeft(s, scan.Space)
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", "", false
	}
	k := strings.IndexByte(s[1:], s[0])
	if k < 0 {
		return "", "", false
	}
	return s[1 : 1+k], s[2+k:], true
}

// quirksPrefixes are the prefixes of public identifiers in the standard's list,
// in lower case.
var quirksPrefixes = strings.Split(`+//silmaril//dtd html pro v0r11 19970101//
-//as//dtd html 3.0 aswedit + extensions//
-//advasoft ltd//dtd html 3.0 aswedit + extensions//
-//ietf//dtd html 2.0 level 1//
-//ietf//dtd html 2.0 level 2//
-//ietf//dtd html 2.0 strict level 1//
-//ietf//dtd html 2.0 strict level 2//
-//ietf//dtd html 2.0 strict//
-//ietf//dtd html 2.0//
-//ietf//dtd html 2.1e//
-//ietf//dtd html 3.0//
-//ietf//dtd html 3.2 final//
-//ietf//dtd html 3.2//
-//ietf//dtd html 3//
-//ietf//dtd html level 0//
-//ietf//dtd html level 1//
-//ietf//dtd html level 2//
-//ietf//dtd html level 3//
-//ietf//dtd html strict level 0//
-//ietf//dtd html strict level 1//
-//ietf//dtd html strict level 2//
-//ietf//dtd html strict level 3//
-//ietf//dtd html strict//
-//ietf//dtd html//
-//metrius//dtd metrius presentational//
-//microsoft//dtd internet explorer 2.0 html strict//
-//microsoft//dtd internet explorer 2.0 html//
-//microsoft//dtd internet explorer 2.0 tables//
-//microsoft//dtd internet explorer 3.0 html strict//
-//microsoft//dtd internet explorer 3.0 html//
-//microsoft//dtd internet explorer 3.0 tables//
-//netscape comm. corp.//dtd html//
-//netscape comm. corp.//dtd strict html//
-//o'reilly and associates//dtd html 2.0//
-//o'reilly and associates//dtd html extended 1.0//
-//o'reilly and associates//dtd html extended relaxed 1.0//
-//sq//dtd html 2.0 hotmetal + extensions//
-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//
-//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0//
-//spyglass//dtd html 2.0 extended//
-//sun microsystems corp.//dtd hotjava html//
-//sun microsystems corp.//dtd hotjava strict html//
-//w3c//dtd html 3 1995-03-24//
-//w3c//dtd html 3.2 draft//
-//w3c//dtd html 3.2 final//
-//w3c//dtd html 3.2//
-//w3c//dtd html 3.2s draft//
-//w3c//dtd html 4.0 frameset//
-//w3c//dtd html 4.0 transitional//
-//w3c//dtd html experimental 19960712//
-//w3c//dtd html experimental 970421//
-//w3c//dtd w3 html//
-//w3o//dtd w3 html 3.0//
-//webtechs//dtd mozilla html 2.0//
-//webtechs//dtd mozilla html//`, "\n")
