package report

import (
	"strings"
	"sync"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/docs"
)

// rules are the codes of findings, as the document of codes explains them, in
// its order.
var rules = sync.OnceValue(func() (all []docs.Code) {
	for _, c := range docs.Codes() {
		if c.Level != "" {
			all = append(all, c)
		}
	}
	return all
})

// ruleIndexes are the indexes of codes in rules.
var ruleIndexes = sync.OnceValue(func() map[check.Code]int {
	m := map[check.Code]int{}
	for i, c := range rules() {
		m[check.Code(c.Name)] = i
	}
	return m
})

// ruleTitle returns a few words for a code: "missing-file" becomes "Missing file".
func ruleTitle(code string) string {
	return strings.ToUpper(code[:1]) + strings.ReplaceAll(code[1:], "-", " ")
}

// Codes returns all codes of findings.
func Codes() (codes []string) {
	for _, c := range rules() {
		codes = append(codes, c.Name)
	}
	return codes
}

// DescribeCode returns what a code means and what to do, for a person.
func DescribeCode(code check.Code) (string, bool) {
	i, ok := ruleIndexes()[code]
	if !ok {
		return "", false
	}
	return rules()[i].Cause + " " + rules()[i].Cure, true
}
