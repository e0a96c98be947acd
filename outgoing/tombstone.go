package outgoing

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
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
func isTombstone(doc *html.Node) (gone bool) {
	walk(doc, func(n *html.Node) bool {
		if n.DataAtom == atom.Meta && strings.EqualFold(attribute(n, "http-equiv"), "status") {
			gone = gone || strings.HasPrefix(strings.TrimSpace(attribute(n, "content")), "410")
		}
		return !gone && n.DataAtom != atom.Body
	})
	return gone
}
