package setup

import (
	"context"
	"fmt"

	"github.com/sitelink/sitelink/incoming/export"
	"github.com/sitelink/sitelink/internal/generator"
)

// Where Hugo finds the partial that shows mentions, and the data that it reads.
const (
	mentionsPartial = "layouts/partials/sitelink/mentions.html"
	mentionsData    = "data/mentions"
)

// askMentions asks about the partial for mentions only where a Hugo site has an endpoint
// that can receive some.
func (r *Init) askMentions(ctx context.Context) (err error) {
	if r.Mentions || r.cfg == nil || !r.isHugo() || r.Has(mentionsPartial) || r.cfg.Templates.Pingback == "" && r.cfg.Templates.Webmention == "" {
		return nil
	}
	r.Mentions, err = r.yes(ctx, fmt.Sprintf("Write %s, which shows links from other sites on your pages?", r.Show(mentionsPartial)))
	return err
}

func (r *Init) isHugo() bool {
	return r.Survey.Generator != nil && r.Survey.Generator.Generator == generator.Hugo
}

// writeMentions writes the partial that shows mentions, and says how to call it. Other
// generators read the exported files in their own way.
func (r *Init) writeMentions() error {
	if !r.isHugo() {
		r.manual.WriteString("\nMentions are files that your generator reads. docs/guide/mentions.md shows a template. Before each build:\n\n" +
			indented("sitelink mentions export --out "+mentionsData+"\n"))
		return nil
	}
	if err := r.write(File{Path: mentionsPartial, Text: export.HugoPartial}); err != nil {
		return err
	}
	r.manual.WriteString("\nAdd to the template of a page, where the mentions of other sites belong:\n\n" + indented("{{ partial \"sitelink/mentions.html\" . }}\n") +
		"\nBefore each build:\n\n" + indented("sitelink mentions export --out "+mentionsData+"\n"))
	return nil
}
