package inject

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
)

// findDocusaurus prints what belongs into the configuration: that is a program,
// and Docusaurus has no template of the head.
func findDocusaurus(p *project) (finding, error) {
	name := ""
	for _, n := range []string{"docusaurus.config.ts", "docusaurus.config.js", "docusaurus.config.mjs"} {
		if _, err := fs.Stat(p.tree, n); err == nil {
			name = n
			break
		}
	}
	text, err := fs.ReadFile(p.tree, name)
	if err != nil {
		return finding{}, fmt.Errorf("read %s: %w", name, disk.Cause(err))
	}
	e := p.opt.Endpoints
	var tags, missing []string
	for _, tag := range []struct{ rel, uri string }{{"pingback", e.Pingback}, {"webmention", e.Webmention}} {
		if tag.uri == "" {
			continue
		}
		tags = append(tags, fmt.Sprintf("{tagName: 'link', attributes: {rel: '%s', href: '%s'}}", tag.rel, strings.ReplaceAll(tag.uri, "'", "%27")))
		if !strings.Contains(string(text), "'"+tag.uri+"'") && !strings.Contains(string(text), `"`+tag.uri+`"`) {
			missing = append(missing, tag.rel)
		}
	}
	if len(missing) == 0 {
		return finding{notes: []string{name + " names the endpoints; sitelink check verifies the built pages"}}, nil
	}
	return finding{refusals: []Refusal{{Path: name, Reason: "the configuration is a program, which sitelink does not change",
		Paste: "headTags: [" + strings.Join(tags, ", ") + "],", Where: "into the object config"}}}, nil
}
