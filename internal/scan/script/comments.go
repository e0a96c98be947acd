package script

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// A commentSystem is a script that adds the comments of visitors to a page. Each
// comment gets an id, which permanent links ask for. The page has none of them
// when it is built.
//
// giscus, utterances, Gitalk and Cusdis are missing on purpose: they show the
// comments in a frame, or without ids, and serve no fragment.
type commentSystem struct {
	name string
	// files are as in a framework. A name that ends in a dot is that of a host,
	// or its first part.
	files []string
	// words in the text of a script load it.
	words []string
	// ids matches the ids of comments.
	ids func() *regexp.Regexp
}

// Each was read in the published software. Only the script of Disqus is not
// published: its row comes from the permanent links that it shows.
var commentSystems = []commentSystem{
	{"Disqus", []string{"disqus.com."}, []string{".disqus.com/embed.js"}, text.Regexp(`^comment-[0-9]+$`)},
	{"Isso", []string{"isso."}, []string{`"^#isso-[0-9]+$"`}, text.Regexp(`^isso-[0-9]+$`)},
	{"Artalk", []string{"artalk", "artalklite"}, []string{"#atk-comment-"}, text.Regexp(`^atk-comment-[0-9]+$`)},
	{"Twikoo", []string{"twikoo", "twikoo.all", "twikoo.nocss"}, nil, text.Regexp(`^[0-9a-f]{24,32}$`)},
	{"Waline", []string{"waline"}, nil, text.Regexp(`^[0-9a-f]{24}$`)},
	{"Valine", []string{"valine"}, nil, text.Regexp(`^[0-9a-f]{24}$`)},
	{"Commento", []string{"commento"}, []string{`"#commento-"`}, text.Regexp(`^commento-(?:comment-card-)?[0-9a-f]{64}$`)},
	{"Remark42", []string{"remark42."}, []string{"remark_config"}, text.Regexp(`^remark42__comment-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)},
	// It scrolls to the comments below a page that once had those of Disqus.
	{"comment-utils of @xiee/utils", []string{"comment-utils"}, []string{`/^#comment-[0-9]+$/`}, text.Regexp(`^comment-[0-9]+$`)},
}

// Serves reports whether a fragment has the form of the ids of comments that the
// script adds to the page.
func (u *Use) Serves(fragment string) bool {
	return u.comments != nil && u.comments().MatchString(fragment)
}

// AddsComments reports whether the script adds comments to the page.
func (u *Use) AddsComments() bool { return u.comments != nil }

// commentsByAddress returns the comment system that an address names.
func commentsByAddress(address string) Use {
	names, host := fileNames(address), hostOf(address)
	return commentUse(func(c *commentSystem) bool {
		return slices.ContainsFunc(c.files, func(f string) bool {
			if name, isHost := strings.CutSuffix(f, "."); isHost {
				return host == name || strings.HasSuffix(host, "."+name) || strings.HasPrefix(host, f)
			}
			return slices.Contains(names, f)
		})
	})
}

// commentsByText returns the comment system that a script loads, or is.
func commentsByText(text []byte) Use {
	return commentUse(func(c *commentSystem) bool {
		return slices.ContainsFunc(c.words, func(w string) bool { return bytes.Contains(text, []byte(w)) })
	})
}

func commentUse(is func(c *commentSystem) bool) Use {
	for i := range commentSystems {
		if c := &commentSystems[i]; is(c) {
			return Use{Framework: c.name, comments: c.ids}
		}
	}
	return Use{}
}

// hostOf returns the host of an address, "" for a script of the site.
func hostOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Matters reports whether the text of a script has any of the words that
// [ByText] looks for. Of any other script, such as one that sets a variable of
// the page, nothing is known.
func Matters(text []byte) bool {
	u := commentsByText(text)
	return u.Any() || bytes.Contains(text, []byte("hash"))
}
