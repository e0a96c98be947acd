package redirect

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/text/tomltree"
)

// lastComma matches a comma after the last element, which JSONC allows.
var lastComma = text.Regexp(`,(\s*[}\]])`)

// Wrangler reads how a Worker serves its static assets from wrangler.toml, wrangler.json or
// wrangler.jsonc: html_handling and not_found_handling
// (https://developers.cloudflare.com/workers/static-assets/routing/).
func Wrangler(name string, data []byte) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/", CleanURLs: true}}
	var in map[string]any
	if data = bytes.TrimPrefix(data, []byte(bom)); strings.HasSuffix(name, ".toml") {
		line, err := tomltree.Bound(data)
		if err == nil {
			line, err = 1, toml.Unmarshal(data, &in)
		}
		if err != nil {
			if bad := (*toml.DecodeError)(nil); errors.As(err, &bad) {
				line, _ = bad.Position()
			}
			f.fault(CodeSyntax, Error, line, "", "the file cannot be read: "+err.Error())
			return f
		}
	} else if err := json.Unmarshal(lastComma().ReplaceAll(text.BlankComments(data), []byte(" $1")), &in); err != nil {
		f.jsonFault(data, err)
		return f
	}
	assets, _ := in["assets"].(map[string]any)
	switch html, _ := assets["html_handling"].(string); html {
	case "", "auto-trailing-slash":
	case "force-trailing-slash", "drop-trailing-slash":
		f.Settings.TrailingSlash = new(html == "force-trailing-slash")
	case "none":
		f.Settings.Plain = true
	default:
		f.fault(CodeSyntax, Error, 1, "", "html_handling must be auto-trailing-slash, force-trailing-slash, drop-trailing-slash or none, not "+quote(html))
	}
	if assets["not_found_handling"] == "single-page-application" {
		f.Settings.Fallback = "index.html"
	}
	return f
}
