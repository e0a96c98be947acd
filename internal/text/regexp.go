package text

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is used first. With all of
// them compiled at the start, `sitelink version` took 2 ms more.
type Pattern struct{ compiled func() *regexp.Regexp }

// Regexp returns a pattern, which must be valid.
func Regexp(expr string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// The methods are those of [regexp.Regexp].

func (p *Pattern) Find(b []byte) []byte                 { return p.compiled().Find(b) }
func (p *Pattern) FindAll(b []byte, n int) [][]byte     { return p.compiled().FindAll(b, n) }
func (p *Pattern) FindAllIndex(b []byte, n int) [][]int { return p.compiled().FindAllIndex(b, n) }
func (p *Pattern) FindAllSubmatch(b []byte, n int) [][][]byte {
	return p.compiled().FindAllSubmatch(b, n)
}
func (p *Pattern) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return p.compiled().FindAllSubmatchIndex(b, n)
}
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}
func (p *Pattern) FindIndex(b []byte) []int             { return p.compiled().FindIndex(b) }
func (p *Pattern) FindString(s string) string           { return p.compiled().FindString(s) }
func (p *Pattern) FindStringIndex(s string) []int       { return p.compiled().FindStringIndex(s) }
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}
func (p *Pattern) FindSubmatch(b []byte) [][]byte   { return p.compiled().FindSubmatch(b) }
func (p *Pattern) FindSubmatchIndex(b []byte) []int { return p.compiled().FindSubmatchIndex(b) }
func (p *Pattern) Match(b []byte) bool              { return p.compiled().Match(b) }
func (p *Pattern) MatchString(s string) bool        { return p.compiled().MatchString(s) }
func (p *Pattern) ReplaceAll(b, with []byte) []byte { return p.compiled().ReplaceAll(b, with) }
func (p *Pattern) ReplaceAllString(s, with string) string {
	return p.compiled().ReplaceAllString(s, with)
}
func (p *Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, with)
}
