package check

import (
	"path"
	"strings"
)

// isMarkdownPath tells whether a link, as written, is the relative path of a
// Markdown file: what an author writes to name another page, and what generators
// pass through unchanged when they cannot find it.
func isMarkdownPath(raw string) bool {
	raw = strings.TrimSpace(raw)
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		raw = raw[:i]
	}
	if strings.Contains(raw, ":") || strings.HasPrefix(raw, "//") {
		return false
	}
	switch strings.ToLower(path.Ext(raw)) {
	case ".md", ".markdown", ".mdown", ".mdx":
		return true
	}
	return false
}
