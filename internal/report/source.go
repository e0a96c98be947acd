package report

import "github.com/sitelink/sitelink/check"

// sourceWords says what kind of file a place in the sources is in: "a template
// of module x". It is empty for content of the project itself, which is what
// authors expect. The module's name is as the project has it, not made safe.
func sourceWords(p *check.Position) string {
	words := map[check.SourceKind]string{
		check.InTemplate: "a template", check.InData: "a data file", check.InConfiguration: "the configuration",
		check.InAsset: "an asset", check.InStatic: "a static file",
	}[p.Kind]
	if p.Module == "" {
		return words
	}
	if words == "" {
		words = "a file"
	}
	return words + " of module " + string(appendCut(nil, p.Module, maxValueBytes))
}

// appendSource appends the field source of a finding or link, if p is not nil.
func appendSource(dst []byte, p *check.Position) []byte {
	if p == nil {
		return dst
	}
	dst = append(dst, `,"source":{`...)
	return append(appendPosition(dst, p), '}')
}

// appendPosition appends the fields of a place in the sources.
func appendPosition(dst []byte, p *check.Position) []byte {
	dst = append(dst, `"file":`...)
	dst = appendString(dst, p.File)
	dst = appendIntField(dst, `,"line":`, p.Line)
	dst = appendIntField(dst, `,"column":`, p.Column)
	if p.Kind != check.InContent {
		dst = append(dst, `,"kind":`...)
		dst = appendString(dst, string(p.Kind))
	}
	if p.Module != "" {
		dst = append(dst, `,"module":`...)
		dst = appendString(dst, p.Module)
	}
	return dst
}

// appendRelatedObject appends the field related, where there is one.
func appendRelatedObject(dst []byte, r *check.Related) []byte {
	if r == nil {
		return dst
	}
	dst = append(dst, `,"related":[{`...)
	dst = appendPosition(dst, &r.Position)
	dst = append(dst, `,"text":`...)
	dst = appendString(dst, r.Text)
	return append(dst, "}]"...)
}

// appendRelated appends: heading "Set up" at content/a.md:30:4.
func appendRelated(dst []byte, r *check.Related) []byte {
	dst = appendCut(dst, r.Text, maxValueBytes)
	dst = append(dst, " at "...)
	dst = appendQuoted(dst, r.File)
	return appendPlace(dst, r.Line, r.Column)
}

// writtenBy is [sourceWords] of the source of a finding that has one.
func writtenBy(f *check.Finding) string {
	if f.Source == nil {
		return ""
	}
	return sourceWords(f.Source)
}

// relatedOf is [appendRelated] of a finding that has such a place.
func relatedOf(f *check.Finding) string {
	if f.Related == nil {
		return ""
	}
	return string(appendRelated(nil, f.Related))
}
