package config

import (
	"fmt"
	"strings"
)

// maxExtension is the longest ending of a page's name.
const maxExtension = 16

// pageExtensions reads html or .html, in any letter case (LL-27).
func pageExtensions(l *loader, values []string, _ string) error {
	extensions := make([]string, 0, len(values))
	for _, v := range values {
		ext := strings.ToLower(strings.TrimPrefix(v, "."))
		bad := strings.IndexFunc(ext, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '+'
		})
		if ext == "" || len(ext) > maxExtension || bad >= 0 {
			return &hintError{fmt.Sprintf("want the ending of file names, got %q", v), "endings look like html or php"}
		}
		extensions = append(extensions, ext)
	}
	l.cfg.PageExtensions = extensions
	return nil
}
