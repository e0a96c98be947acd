package scan

import "bytes"

// A Root is what the root element of an XML document makes of it.
type Root uint8

const (
	RootOther        Root = iota // nothing that holds links
	RootRSS                      // RSS 0.91 to 2.0
	RootRDF                      // RSS 0.90 and 1.0
	RootAtom                     // RFC 4287
	RootSitemap                  // https://www.sitemaps.org/protocol.html
	RootSitemapIndex             //
	RootOPML                     // http://opml.org/spec2.opml
	RootOpenSearch               // an OpenSearch description
)

// rootNames: the local name tells, whatever the namespace: feeds and sitemaps
// with a wrong one or none are read by their readers too.
var rootNames = map[string]Root{
	"rss": RootRSS, "RDF": RootRDF, "feed": RootAtom, "urlset": RootSitemap, "sitemapindex": RootSitemapIndex,
	"opml": RootOPML, "OpenSearchDescription": RootOpenSearch,
}

// RootOf tells from the first bytes of a file, a few KiB of them, what XML
// document it is. RootOther also stands for what is no XML, and for a document
// whose root element lies beyond head.
//
// An RDF document is a feed only when its head declares a namespace of RSS.
func RootOf(head []byte) Root {
	// The names sought are ASCII: UTF-16 is the same but for the zero bytes.
	if bytes.IndexByte(head, 0) >= 0 {
		head = bytes.ReplaceAll(head, []byte{0}, nil)
		head = bytes.TrimPrefix(bytes.TrimPrefix(head, []byte("\xFF\xFE")), []byte("\xFE\xFF"))
	}
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	for {
		i := skipXMLSpace(head, 0)
		head = head[i:]
		switch {
		case len(head) < 2 || head[0] != '<':
			return RootOther
		case head[1] == '?':
			head = behind(head, "?>")
		case bytes.HasPrefix(head, []byte("<!--")):
			head = behind(head[4:], "-->")
		case head[1] == '!':
			head = afterDoctype(head)
		default:
			name := head[1:nameLen(head, 1)]
			root := rootNames[string(name[bytes.IndexByte(name, ':')+1:])]
			if root == RootRDF && !bytes.Contains(head, []byte("purl.org/rss/")) && !bytes.Contains(head, []byte("netscape.com/rdf/")) {
				return RootOther
			}
			return root
		}
	}
}

// behind returns what follows mark, nil when it is not there.
func behind(text []byte, mark string) []byte {
	_, rest, _ := bytes.Cut(text, []byte(mark))
	return rest
}

// afterDoctype skips a document type, roughly: to the ">" behind its internal
// subset, if it has one.
func afterDoctype(text []byte) []byte {
	end := bytes.IndexByte(text, '>')
	if open := bytes.IndexByte(text, '['); open >= 0 && open < end {
		text = behind(text, "]")
		end = bytes.IndexByte(text, '>')
	}
	if end < 0 {
		return nil
	}
	return text[end+1:]
}
