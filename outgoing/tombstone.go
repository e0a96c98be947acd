package outgoing

import (
	"bytes"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/sitelink/sitelink/internal/scan/outline"
)

// TombstonePage stands at the address of a deleted page on hosts that cannot answer
// 410: receivers of webmentions read the status in its meta element
// (Webmention, section 3.2.5; the form is that of webmention.rocks).
const TombstonePage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Status" content="410 Gone">
<meta name="robots" content="noindex">
<title>Gone</title>
</head>
<body>
<p>This page was deleted.</p>
</body>
</html>
`

// isTombstone tells whether a page says of itself that it is gone.
func (o pageOutline) isTombstone() bool {
	for i := 0; i < o.Len(); i++ {
		switch o.Tag(i) {
		case atom.Body:
			i = o.End(i) - 1
		case atom.Meta:
			equiv, _ := o.Attr(i, outline.HTTPEquiv)
			status, _ := o.Attr(i, outline.Content)
			if strings.EqualFold(string(equiv), "status") && bytes.HasPrefix(bytes.TrimSpace(status), []byte("410")) {
				return true
			}
		}
	}
	return false
}
