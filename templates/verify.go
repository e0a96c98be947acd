package templates

import (
	"errors"
	"fmt"

	"github.com/sitelink/sitelink/internal/scan"
)

// faultTexts say what is wrong, for a person.
var faultTexts = map[Fault]string{
	FaultAddress:     "names another address",
	FaultRelative:    "has an address that is not absolute",
	FaultForm:        "is written in another form than clients look for",
	FaultUnquoted:    "has lost its quotes",
	FaultTwice:       "is there twice",
	FaultSecondMatch: "is matched by text that is no element",
	FaultBody:        "is in the body",
	FaultLate:        "ends behind the first 5,000 bytes",
	FaultInvalid:     "stands on a page with two heads",
}

// Verify tells whether a page of HTML in memory has the elements of e as it
// should: each once, in the head as the parser sees it, in the form that clients
// look for, within the first 5,000 bytes (PB-8, PB-9, PB-20 to PB-22, PB-35).
// The error joins all that is wrong, each with the offset of its place; it is
// nil when nothing is. sitelink check says the same of built pages.
func Verify(page []byte, e Endpoints) error {
	var s scan.Scanner
	has, faults := NewInspector(e).Page(s.HTML(page, scan.Options{}), false)
	var all []error
	if e.Pingback != "" && has&HasPingback == 0 {
		all = append(all, errors.New("the pingback element is missing"))
	}
	if e.Webmention != "" && has&HasWebmention == 0 {
		all = append(all, errors.New("the webmention element is missing"))
	}
	for _, f := range faults {
		what := "the " + f.Rel() + " element"
		if f.Rel() == "" {
			what = "an element"
		}
		all = append(all, fmt.Errorf("offset %d: %s %s", f.Off, what, faultTexts[f.Fault()]))
	}
	return errors.Join(all...)
}
