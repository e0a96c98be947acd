package host

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Forge is how a site for repositories shows the files of one: Markdown as a page, any
// other file with its lines. docs/guide/markdown.md describes them.
type Forge struct {
	// Hosts are patterns (path.Match) of the host names of the forge.
	Hosts []string
	// Files are paths below the address of a repository. The forge shows the files of
	// the branch {} there. Raw is an address with the files of {}, the path of a
	// repository and a branch.
	Files []string
	Raw   string
	// Pages are the first segments of the other pages of a repository, separated by blanks.
	Pages string
	// AnyCase: the letter case of fragments does not matter.
	AnyCase bool
	// Slug returns the id of a heading with that text.
	Slug func(text string) string
}

// IDPrefix is what all forges put before an id of Markdown. Fragments work without it.
const IDPrefix = "user-content-"

// readmes are the files that forges show below the list of a directory.
var readmes = []string{"readme.md", "readme.markdown", "readme.mdown", "readme.mkdn", "readme.mkd", "readme.rst", "readme.adoc", "readme.org", "readme.txt", "readme"}

// forge is a row for a forge.
func forge(title, name string, f Forge) Kind {
	const none = "it shows repositories, not sites"
	return Kind{Title: title, WithoutRules: none, WithoutHeaders: none, Profile: server(name, func(p *Profile) {
		p.Index, p.FoldIndex, p.Autoindex, p.Directory = readmes, true, AutoindexList, Serve
		p.AboveRoot, p.BadEscape, p.Forge = 0, 0, &f
	})}
}

// githubSlug is the rule of GitHub, as the package github-slugger has it: lower case, no
// punctuation and symbols, hyphens for spaces. Ruby and Go have the same letters in lower
// case, except İ.
func githubSlug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic):
			return r
		}
		return -1
	}, strings.ToLower(strings.ReplaceAll(text, "İ", "i̇")))
}

// gitlabSlug is Gitlab::Utils::Markdown.string_to_anchor of GitLab.
func gitlabSlug(text string) string {
	slug := githubSlug(strings.TrimSpace(text))
	for strings.Contains(slug, "--") {
		slug = strings.ReplaceAll(slug, "--", "-")
	}
	if slug != "" && strings.Trim(slug, "0123456789") == "" {
		slug = "anchor-" + slug
	}
	return slug
}

// forgejoSlug is CleanValue of Forgejo and Gitea.
func forgejoSlug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return '-'
		case r == '_', r == '-', unicode.IsLetter(r), unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(text))
}

// ForgeAt returns the name of the forge with a host name, "" for none.
func ForgeAt(hostname string) string {
	for _, k := range kinds {
		if k.Forge != nil && slices.ContainsFunc(k.Forge.Hosts, func(pattern string) bool {
			ok, _ := path.Match(pattern, hostname)
			return ok
		}) {
			return k.Name
		}
	}
	return ""
}

// addresses returns the addresses of the files of a branch of a repository,
// https://github.com/me/site. The first is the one at which the forge resolves links.
func (f *Forge) addresses(repository, branch string) (all []string) {
	for _, files := range f.Files {
		all = append(all, repository+"/"+strings.ReplaceAll(files, "{}", branch)+"/")
	}
	if _, at, _ := strings.Cut(repository, "://"); f.Raw != "" {
		_, name, _ := strings.Cut(at, "/")
		all = append(all, strings.ReplaceAll(f.Raw, "{}", name+"/"+branch)+"/")
	}
	return all
}

// setForge makes the top of the repository a site: the path of a file is its path in the
// repository, which is what a link that begins with a slash means on forges. The addresses
// of the files on the forge are further addresses of the site.
func (h *Host) setForge() (err error) {
	repository := cmp.Or(h.opt.Repository, "http://forge.invalid/owner/repository")
	if h.repository, err = parseBase(repository + "/"); err != nil {
		return err
	}
	h.bases = []baseURL{{scheme: "http", host: strings.TrimPrefix(Unpublished, "http://")}}
	for _, branch := range append(slices.Clone(h.opt.Branches), "HEAD") {
		for _, name := range []string{branch, "refs/heads/" + branch} {
			for _, address := range h.profile.Forge.addresses(repository, escapePath(name)) {
				b, err := parseBase(address)
				if err != nil {
					return err
				}
				h.bases = append(h.bases, b)
			}
		}
	}
	return nil
}

// OnForge returns the URL that a link of a page means on the forge. u is the URL that the
// link has in the repository. They differ if the link climbs above the top of the
// repository, or begins with the path of the repository on the forge.
func (h *Host) OnForge(page docroot.NodeID, value string, u weburl.URL) weburl.URL {
	if h.profile.Forge == nil || !h.bases[0].isHostOf(u) {
		return u
	}
	if u.Notes()&weburl.NoteAboveRoot == 0 {
		first, _, _ := strings.Cut(strings.TrimPrefix(u.Path(), "/"), "/")
		if _, ok := h.repository.below(u.Path()); !ok || h.tree.Child(0, []byte(first)) != docroot.NoNode {
			return u
		}
	}
	base, err := weburl.Parse(h.bases[1].origin() + h.bases[1].path + escapePath("/"+h.tree.Path(page)))
	if err != nil {
		return u
	}
	to, err := base.Resolve(value)
	if err != nil || to.Notes()&weburl.NoteAboveRoot != 0 {
		return u
	}
	if rest, ok := h.repository.below(to.Path()); ok && rest != "" && rest != "/" {
		f := h.profile.Forge
		first, _, _ := strings.Cut(rest[1:], "/")
		if !slices.Contains(strings.Fields(f.Pages), first) && !slices.ContainsFunc(f.Files, func(files string) bool { return strings.HasPrefix(files, first+"/") }) {
			return u // no page of a repository is called so: the link leads out of the tree
		}
	}
	return to
}

// elsewhereOnForge answers for an address at which the forge shows no file of this checkout:
// the repository itself, where its README is shown, or a page that is not checked.
func (h *Host) elsewhereOnForge(u weburl.URL, res *Resolved) (path string, ok bool) {
	if rest, ok := h.repository.below(u.Path()); ok && strings.Trim(rest, "/") == "" {
		return "/", true
	}
	res.State, res.Target = StateExternal, u.WithoutFragment()
	if h.opt.Repository == "" {
		res.State, res.Target = StateOutsideBase, u.Path()
	}
	return "", false
}
