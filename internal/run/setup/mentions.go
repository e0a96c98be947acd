package setup

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

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
	return r.Survey.Generator != nil && r.Survey.Generator.Generator.Traits().Templates == generator.GoTemplates
}

// hasEndpoints reports whether the configuration names an endpoint, or init writes one.
func (r *Init) hasEndpoints() bool {
	return r.Facts.Mentions || r.cfg != nil && (r.cfg.Templates.Pingback != "" || r.cfg.Templates.Webmention != "")
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
