package setup

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sitelink/sitelink/incoming/export"
	"github.com/sitelink/sitelink/internal/generator"
)

// Where Hugo finds the partial that shows mentions, the script that adds later ones,
// and the data that the partial reads.
const (
	mentionsPartial = "layouts/partials/sitelink/mentions.html"
	mentionsScript  = "assets/sitelink-mentions.js"
	mentionsData    = "data/mentions"
)

// askMentions asks about the partial for mentions only where a Hugo site has an endpoint
// that can receive some.
func (r *Init) askMentions(ctx context.Context) (err error) {
	if r.Mentions || !r.isHugo() || r.Has(mentionsPartial) || !r.hasEndpoints() {
		return nil
	}
	r.Mentions, err = r.yes(ctx, fmt.Sprintf("Write %s, which shows links from other sites on your pages?", r.Show(mentionsPartial)))
	return err
}

func (r *Init) isHugo() bool {
	return r.Survey.Generator != nil && r.Survey.Generator.Generator == generator.Hugo
}

func (r *Init) hasEndpoints() bool {
	return r.cfg != nil && (r.cfg.Templates.Pingback != "" || r.cfg.Templates.Webmention != "")
}

// writeMentions writes what shows mentions, and says what the user has to add: where
// they belong, how they are received and how they get into the build.
func (r *Init) writeMentions() error {
	data := mentionsData
	switch {
	case r.isHugo():
		for _, f := range []File{{Path: mentionsPartial, Text: export.HugoPartial}, {Path: mentionsScript, Text: export.Script}} {
			if err := r.write(f); err != nil {
				return err
			}
		}
		r.add("Add to the template of a page, where the mentions of other sites belong", `{{ partial "sitelink/mentions.html" . }}`)
	case r.isGoProgram():
		data = "mentions"
		r.add("Add a template mentions.html, and call it where the mentions of a page belong", export.GoTemplate)
		r.add("It takes what export.Read of github.com/sitelink/sitelink/incoming/export returns for the page",
			"mentions, err := export.Read(os.DirFS(\"mentions\"))\npage, _ := export.PageOf(\"https://example.org/post/\") // the address of the page\ndata.Mentions = mentions[page]")
	default:
		r.manual.WriteString("\nMentions are files that your generator reads. docs/guide/mentions.md shows a template.\n")
	}
	base := "https://example.org/"
	if len(r.BaseURLs) > 0 {
		base = r.BaseURLs[0]
	}
	if !r.hasEndpoints() {
		origin := strings.TrimSuffix(base, "/")
		r.add("Tell other sites where they send webmentions and pingbacks: add to "+ConfigName+", then run sitelink inject",
			"[templates]\nwebmention = \""+origin+"/webmention\"\npingback = \""+origin+"/pingback\"")
	}
	site := path.Join(".", r.Site)
	if r.Site == "" {
		site = "public"
	}
	r.add("Receive them on your server, behind your web server (docs/reference/receiver.md has files for nginx, Caddy and systemd)",
		"sitelink serve "+site+" --base-url "+base)
	r.add("Before each build", "sitelink mentions export --out "+data)
	if r.isHugo() {
		r.add("To show what you approve between two builds, add to the configuration of Hugo",
			"[params.sitelink]\nlive = \""+strings.TrimSuffix(base, "/")+"/mentions\"")
	}
	return nil
}

// isGoProgram reports whether the site is made by a Go program of the project.
func (r *Init) isGoProgram() bool {
	if r.Survey.Generator != nil {
		return false
	}
	info, err := fs.Stat(os.DirFS(r.Dir), "go.mod")
	return err == nil && info.Mode().IsRegular()
}

// add keeps for the end what the user has to add to a file of their own, or to type.
func (r *Init) add(what, text string) {
	fmt.Fprintf(&r.manual, "\n%s:\n\n%s", what, indented(strings.TrimSuffix(text, "\n")+"\n"))
}
