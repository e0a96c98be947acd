package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Ignore is one rule about findings that the user accepts. A finding is
// ignored when every field that is not empty matches it.
type Ignore struct {
	// URL, Page and Fragment are doublestar patterns, Code is a finding code.
	URL, Page, Fragment, Code string
	// Reason says why. The file demands it: the next reader has nothing else.
	Reason string
	// Origin is the place of the rule: "sitelink.toml:12" or "--ignore".
	Origin string
}

// ignoreFields are the keys of an [[ignore]] table, and the names of --ignore.
var ignoreFields = []string{"url", "page", "fragment", "code", "reason"}

func (r *Ignore) field(name string) *string {
	switch name {
	case "url":
		return &r.URL
	case "page":
		return &r.Page
	case "fragment":
		return &r.Fragment
	case "code":
		return &r.Code
	case "reason":
		return &r.Reason
	}
	return nil
}

// ignores adds rules to those of lower places: a flag given for one run does
// not bring back what the project has accepted.
func ignores(l *loader, values []string, place string) error {
	for _, v := range values {
		rule, err := parseIgnore(v)
		if err != nil {
			return err
		}
		rule.Origin = place
		if err := rule.check(l.req.Codes); err != nil {
			return err
		}
		l.cfg.Ignores = append(l.cfg.Ignores, rule)
	}
	return nil
}

// parseIgnore reads a rule of the command line: fields such as
// page=blog/**,code=missing-file when it begins with one, else a URL pattern.
// A comma ends a value only where another field follows, so that patterns may
// hold commas.
func parseIgnore(text string) (Ignore, error) {
	var rule Ignore
	name := fieldName(text)
	if name == "" {
		rule.URL = text
		return rule, nil
	}
	for name != "" {
		text = text[len(name)+1:]
		end, next := len(text), ""
		for i := range len(text) {
			if text[i] == ',' {
				if next = fieldName(text[i+1:]); next != "" {
					end = i
					break
				}
			}
		}
		field := rule.field(name)
		if *field != "" {
			return Ignore{}, fmt.Errorf("the rule has two fields named %s", name)
		}
		if end == 0 {
			return Ignore{}, fmt.Errorf("the field %s is empty", name)
		}
		*field = text[:end]
		if next != "" {
			text = text[end+1:]
		}
		name = next
	}
	return rule, nil
}

// fieldName returns the field that text begins with, as in "page=x"; else "".
func fieldName(text string) string {
	for _, name := range ignoreFields {
		if strings.HasPrefix(text, name) && strings.HasPrefix(text[len(name):], "=") {
			return name
		}
	}
	return ""
}

// check refuses a rule that would match everything, a pattern that cannot be
// read, and a code that does not exist.
func (r *Ignore) check(codes []string) error {
	if r.URL == "" && r.Page == "" && r.Fragment == "" && r.Code == "" {
		return errors.New("the rule needs a url, page, fragment or code")
	}
	for _, pattern := range []string{r.URL, r.Page, r.Fragment} {
		if !doublestar.ValidatePattern(pattern) {
			return &hintError{fmt.Sprintf("%q is no pattern", pattern),
				`patterns know *, **, ?, [a-z] and {a,b}; write \[ for a plain bracket`}
		}
	}
	if r.Code != "" && !slices.Contains(codes, r.Code) {
		hint := didYouMean(r.Code, codes)
		if hint == "" {
			hint = "docs/reference/codes.md lists the codes"
		}
		return &hintError{fmt.Sprintf("no finding has the code %q", r.Code), hint}
	}
	return nil
}
