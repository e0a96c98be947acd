package weburl

import "strings"

// Form is how a site writes the addresses of its pages.
type Form string

// The forms, by the address of the page a at the root.
const (
	FileForm  Form = "/a.html"
	BareForm  Form = "/a"
	SlashForm Form = "/a/"
)

// FormOf returns the form of a path, or of a pattern for paths such as
// "/:year/:title/". It is "" for the root.
func FormOf(path string) Form {
	last := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case last == "" && strings.Trim(path, "/") == "":
		return ""
	case last == "":
		return SlashForm
	case strings.HasSuffix(last, ".html"), strings.HasSuffix(last, ":output_ext"):
		return FileForm
	}
	return BareForm
}
