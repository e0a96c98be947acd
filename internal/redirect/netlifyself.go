package redirect

import "strings"

// selfCheck is how Netlify's matcher keeps a redirect with a splat from
// leading onto itself. Measured with netlify-redirector 0.5.0, for every status
// but 200: the destination, as written, is a path that the source matches, and
// the path asked for begins with what stands before its final "/:splat". For an address of the requested host it is compared with what
// the splat took. The rule then does nothing and ends the search, even where its
// query or its conditions do not hold.
type selfCheck struct {
	base   string
	splat  int    // the capture of the splat
	origin string // scheme and host of an absolute destination
}

// newSelfCheck makes the check of a destination; nil if it never holds.
func newSelfCheck(to string, match *pattern, splat int) *selfCheck {
	c := &selfCheck{splat: splat}
	base, whole := strings.CutSuffix(to, "/:splat")
	if base == "" {
		return nil
	}
	if isURL(base) {
		start := strings.Index(base, "://") + 3
		slash := strings.IndexByte(base[start:], '/')
		if !whole || slash < 0 {
			return nil
		}
		c.origin, c.base = base[:start+slash], base[start+slash:]
		return c
	}
	if _, again := match.matches(to); !again {
		return nil
	}
	c.base = base
	return c
}

// holds reports whether the rule would lead onto itself.
func (c *selfCheck) holds(req *Request, captured []string) bool {
	if c.origin != "" {
		scheme, host, _ := strings.Cut(c.origin, "://")
		own := host == req.Host && (scheme == req.Scheme || req.Scheme == "")
		return own && strings.HasPrefix("/"+captured[c.splat], c.base)
	}
	return strings.HasPrefix(req.Path, c.base)
}
