package report

import "github.com/sitelink/sitelink/check"

// appendRead appends what was read besides pages and what was not, each on a
// line of its own, or after "; " on that of a clean site.
func appendRead(dst []byte, s *check.Summary, next string) []byte {
	for _, list := range []struct {
		title string
		kinds []check.KindCount
	}{{"also read: ", s.Read}, {"files not read: ", s.NotRead}} {
		for i, k := range list.kinds {
			if i == 0 {
				dst = append(dst, next+list.title...)
			} else {
				dst = append(dst, ", "...)
			}
			dst = appendThousands(dst, k.Count)
			dst = append(dst, ' ')
			dst = appendCut(dst, k.Kind, maxValueBytes)
		}
	}
	if s.Canonical > 0 {
		dst = append(dst, next...)
		dst = appendCount(dst, s.Canonical, "page")
		dst = append(dst, " with another canonical address"...)
	}
	return dst
}

// appendNotes appends the notes, a line each.
func appendNotes(dst []byte, s *check.Summary) []byte {
	for _, note := range s.Notes {
		dst = append(dst, "note: "...)
		dst = appendCut(dst, note, maxMessageBytes)
		dst = append(dst, '\n')
	}
	return dst
}

// appendReadJSON appends the same as fields of an object.
func appendReadJSON(dst []byte, s *check.Summary) []byte {
	dst = appendIntField(dst, `,"canonical":`, s.Canonical)
	dst = appendKindsJSON(append(dst, `,"read":[`...), s.Read)
	dst = appendKindsJSON(append(dst, `],"not_read":[`...), s.NotRead)
	dst = append(dst, `],"notes":[`...)
	for i, note := range s.Notes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, note)
	}
	return append(dst, ']')
}

func appendKindsJSON(dst []byte, kinds []check.KindCount) []byte {
	for i, k := range kinds {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"kind":`...)
		dst = appendString(dst, k.Kind)
		dst = appendIntField(dst, `,"count":`, k.Count)
		dst = append(dst, '}')
	}
	return dst
}
