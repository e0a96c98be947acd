package project

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Question is one of the six that the description of a project answers.
type Question int

// The questions, in the order in which a person asks them.
const (
	// AskGenerator is for the name of the generator; Dir is the directory of its project.
	AskGenerator Question = iota
	// AskBuild is for the line of the shell that builds the site; Dir is where it runs.
	AskBuild
	// AskDocroot is for the directory that is published, an absolute path.
	AskDocroot
	// AskBase is for the addresses of the docroot, separated by blanks. A path such as
	// /sub/ is an address with an unknown host.
	AskBase
	// AskHost is for the name of a host, that of its profile.
	AskHost
	// AskForm is for how the host writes addresses: "/a", "/a/" or "/a.html".
	AskForm
	questions
)

// String returns the question in the words of a report: "docroot".
func (q Question) String() string {
	return [...]string{"generator", "build", "docroot", "base-url", "host", "addresses"}[q]
}

// Evidence is what one place says about a question.
type Evidence struct {
	Question Question
	// Value is the answer, Dir the directory that belongs to it, absolute; see the
	// questions.
	Value, Dir string
	// File has it: an absolute path, or the name of a flag or variable; "" for what no
	// file says. Line counts from 1; 0 is the whole file.
	File string
	Line int
	// Words are the words of the file, or say in which way it is evidence.
	Words string
}

// same reports whether two places say the same. Many commands do the same work.
func (e Evidence) same(o Evidence) bool { return e.Value == o.Value || e.Question == AskBuild }

// Answer is the strongest evidence for a question and what contradicts it. Value is ""
// if nothing answers it. If places of equal strength contradict each other about the
// host, Value is "", too, and Against has them all.
type Answer struct {
	Evidence
	Against []Evidence
}

// Answers has the answer to each question.
type Answers [questions]Answer

// sources are the sources of evidence, the strongest first: the first that answers a
// question wins. A source can use what those before it have answered.
var sources = []func(*survey) []Evidence{
	(*survey).configured,
	(*survey).deployed,
	(*survey).workflows,
	(*survey).scripts,
	(*survey).generated,
	(*survey).built,
	(*survey).published,
	(*survey).said,
	(*survey).addressed,
}

// take adds what one source says.
func (all *Answers) take(batch []Evidence) {
	var hosts []Evidence
	for _, e := range batch {
		a := &all[e.Question]
		switch {
		case e.Value == "" || a.Value != "" && e.Question == AskForm && e.File == "": // a default contradicts nothing
		case e.Question == AskHost:
			if !slices.ContainsFunc(hosts, e.same) {
				hosts = append(hosts, e)
			}
		case a.Value == "":
			a.Evidence = e
		case !e.same(a.Evidence) && !slices.ContainsFunc(a.Against, e.same):
			a.Against = append(a.Against, e)
		}
	}
	a := &all[AskHost]
	switch {
	case len(hosts) == 0:
	case a.Value != "":
		for _, e := range hosts {
			if !e.same(a.Evidence) && !slices.ContainsFunc(a.Against, e.same) {
				a.Against = append(a.Against, e)
			}
		}
	case len(a.Against) == 0 && len(hosts) == 1:
		a.Evidence = hosts[0]
	case len(a.Against) == 0:
		a.Against = hosts
	case len(hosts) == 1 && slices.ContainsFunc(a.Against, hosts[0].same): // one of those in doubt
		a.Evidence, a.Against = hosts[0], slices.DeleteFunc(a.Against, hosts[0].same)
	}
}

// From names the place of evidence as a user in Dir would write it: "netlify.toml:3".
func (p *Project) From(e Evidence) string {
	name := e.File
	if filepath.IsAbs(name) {
		name = filepath.ToSlash(p.Show(name))
	}
	if e.Line > 0 {
		name += fmt.Sprintf(":%d", e.Line)
	}
	return cmp.Or(name, e.Words)
}

// Value returns the value of evidence as a user in Dir would write it.
func (p *Project) Value(e Evidence) string {
	switch {
	case e.Question == AskDocroot:
		return filepath.ToSlash(p.Show(e.Value))
	case (e.Question == AskGenerator || e.Question == AskBuild) && e.Dir != "" && e.Dir != p.Dir:
		return e.Value + " in " + filepath.ToSlash(p.Show(e.Dir))
	}
	return e.Value
}

// Doubt says which places give different answers to a question, "" if none do:
// "netlify.toml says netlify, vercel.json says vercel".
func (p *Project) Doubt(q Question) string {
	a := p.Answers[q]
	if len(a.Against) == 0 {
		return ""
	}
	all := a.Against
	if a.Value != "" {
		all = append([]Evidence{a.Evidence}, all...)
	}
	claims := make([]string, len(all))
	for i, e := range all {
		claims[i] = p.From(e) + " says " + p.Value(e)
	}
	return strings.Join(claims, ", ")
}
