package moderation

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/incoming"
)

// MaxRules is the size of the largest file of rules or block list that is read.
const MaxRules = 64 << 20

// rulesHeader begins a new file of rules.
const rulesHeader = `# Rules for mentions, one per line: trust, hold or block, then a host with its
# subdomains, the beginning of a URL, or a block of addresses, then "# why".
`

// ParseRules reads a file of rules:
//
//	# A comment.
//	trust friend.example            # an old friend
//	hold  big.example
//	block https://big.example/~spam/
//
// The order of the lines does not count. The rules are sorted by pattern. The error
// names each line that is wrong; two lines about the same pattern are wrong too.
func ParseRules(r io.Reader) ([]incoming.Rule, error) {
	var rules []incoming.Rule
	var errs []error
	lineOf := map[string]int{}
	err := eachLine(r, func(n int, line string) {
		rule, ok, err := parseRule(line)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("line %d: %w", n, err))
		case !ok:
		case lineOf[rule.Pattern] > 0:
			errs = append(errs, fmt.Errorf("line %d: %s has a rule in line %d; remove one of them", n, rule.Pattern, lineOf[rule.Pattern]))
		default:
			lineOf[rule.Pattern] = n
			rules = append(rules, rule)
		}
	})
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	sortRules(rules)
	return rules, nil
}

func sortRules(rules []incoming.Rule) {
	slices.SortFunc(rules, func(a, b incoming.Rule) int { return strings.Compare(a.Pattern, b.Pattern) })
}

// eachLine calls f for each line, counted from 1.
func eachLine(r io.Reader, f func(n int, line string)) error {
	limited := &io.LimitedReader{R: r, N: MaxRules + 1}
	s := bufio.NewScanner(limited)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\uFEFF")
		}
		f(n, line)
	}
	if s.Err() == nil && limited.N == 0 {
		return fmt.Errorf("the list has more than %d MiB", MaxRules>>20)
	}
	return s.Err()
}

// parseRule reads one line; ok is false for a comment or an empty line.
func parseRule(line string) (rule incoming.Rule, ok bool, err error) {
	line, note := cutComment(line)
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return rule, false, nil
	}
	rule = incoming.Rule{Verdict: incoming.Verdict(fields[0]), Note: oneLine(note)}
	switch {
	case !slices.Contains([]incoming.Verdict{incoming.Trust, incoming.Hold, incoming.Block}, rule.Verdict):
		return rule, false, fmt.Errorf("%q is not a verdict; write trust, hold or block", fields[0])
	case len(fields) != 2:
		return rule, false, fmt.Errorf("want %s and one pattern, got %d", fields[0], len(fields)-1)
	}
	rule.Pattern, err = incoming.ParsePattern(fields[1])
	return rule, err == nil, err
}

// cutComment returns a line before a comment, and the comment. A comment begins with a
// number sign at the beginning or after white space, so that it is not a fragment.
func cutComment(line string) (before, comment string) {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i], line[i+1:]
		}
	}
	return line, ""
}

// UpdateRules returns a file that has these rules. It keeps the lines of the old text
// with their order, spacing and comments, except lines about a rule that changed or
// is gone. New rules follow at the end, sorted by pattern. A line of the old text
// that is wrong becomes a comment.
func UpdateRules(old []byte, rules []incoming.Rule) []byte {
	missing := map[string]incoming.Rule{}
	for _, rule := range rules {
		missing[rule.Pattern] = rule
	}
	var out bytes.Buffer
	if len(old) == 0 {
		out.WriteString(rulesHeader)
	}
	for line := range strings.Lines(string(old)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		was, ok, err := parseRule(line)
		is, wanted := missing[was.Pattern]
		switch {
		case err != nil:
			line = "# " + line
		case !ok:
		case !wanted:
			continue
		default:
			delete(missing, was.Pattern)
			if is != was {
				line = formatRule(is)
			}
		}
		out.WriteString(line + "\n")
	}
	for _, pattern := range slices.Sorted(maps.Keys(missing)) {
		out.WriteString(formatRule(missing[pattern]) + "\n")
	}
	return out.Bytes()
}

func formatRule(r incoming.Rule) string {
	line := fmt.Sprintf("%-5s %s", r.Verdict, r.Pattern)
	if note := oneLine(r.Note); note != "" {
		line += " # " + note
	}
	return line
}

// Apply makes the rules of a store those of a file: it removes all others. It returns
// the number of rules that changed.
func Apply(ctx context.Context, store incoming.Store, rules []incoming.Rule) (changed int, err error) {
	old, err := store.Rules(ctx)
	if err != nil {
		return 0, err
	}
	wanted := map[string]incoming.Rule{}
	for _, rule := range rules {
		wanted[rule.Pattern] = rule
	}
	var change []incoming.Rule
	for _, rule := range old {
		is, ok := wanted[rule.Pattern]
		if ok && is == rule {
			delete(wanted, rule.Pattern)
		} else if !ok {
			change = append(change, incoming.Rule{Pattern: rule.Pattern})
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(wanted)) {
		change = append(change, wanted[pattern])
	}
	if len(change) == 0 {
		return 0, nil
	}
	return len(change), store.SetRules(ctx, change)
}

// Skipped is a line of a list that an import left out.
type Skipped struct {
	Line int
	Text string // at most 80 bytes
	Why  string
}

// ParseBlockList reads a list of hosts to block. It returns a rule with the note for
// each host, sorted by pattern, and the lines that it does not understand. A list may
// mix lines of these formats:
//
//	spam.example                      hosts, as in domainblocklist and blocklists of webmention.io
//	*.spam.example                    wildcards
//	0.0.0.0 spam.example other.example   hosts files
//	||spam.example^$third-party       filters of uBlock Origin and Adblock Plus
//	https://big.example/~spam/        the beginning of a URL
//	address=/spam.example/            dnsmasq
//
// Text after a number sign, an exclamation mark or a semicolon is a comment. Exceptions
// and other filters for parts of pages are left out.
func ParseBlockList(r io.Reader, note string) (rules []incoming.Rule, skipped []Skipped, err error) {
	seen := map[string]bool{}
	err = eachLine(r, func(n int, line string) {
		names, why := blockedBy(line)
		for _, name := range names {
			pattern, err := incoming.ParsePattern(name)
			switch {
			case err != nil:
				why = "it is not a host or URL"
			case !strings.ContainsAny(pattern, ".:"):
				why = "a name without a dot is not a public host"
			case !seen[pattern]:
				seen[pattern] = true
				rules = append(rules, incoming.Rule{Pattern: pattern, Verdict: incoming.Block, Note: oneLine(note)})
			}
		}
		if why != "" {
			skipped = append(skipped, Skipped{n, line[:min(len(line), 80)], why})
		}
	})
	sortRules(rules)
	return rules, skipped, err
}

// localNames are the names that hosts files give to the machine itself.
var localNames = []string{"localhost", "localhost.localdomain", "local", "broadcasthost", "ip6-localhost", "ip6-loopback", "ip6-localnet",
	"ip6-mcastprefix", "ip6-allnodes", "ip6-allrouters", "ip6-allhosts", "0.0.0.0"}

// blockedBy returns what one line of a block list blocks, or why it is left out.
func blockedBy(line string) (names []string, why string) {
	line = strings.TrimSpace(line)
	if line == "" || strings.ContainsRune("!#;", rune(line[0])) || strings.HasPrefix(line, "[Adblock") {
		return nil, ""
	}
	if filter, ok := strings.CutPrefix(line, "||"); ok {
		host, options, _ := strings.Cut(filter, "$")
		host, ok := strings.CutSuffix(host, "^")
		if !ok || strings.ContainsAny(host, "/*^|") || strings.Contains(options, "domain=") {
			return nil, "the filter is for a part of a site"
		}
		return []string{host}, ""
	}
	if strings.HasPrefix(line, "@@") || strings.Contains(line, "##") || strings.Contains(line, "#@#") {
		return nil, "the filter is an exception, or for a part of a page"
	}
	if rest, ok := strings.CutPrefix(line, "address=/"); ok {
		host, _, _ := strings.Cut(rest, "/")
		return []string{host}, ""
	}
	line, _ = cutComment(line)
	line, _, _ = strings.Cut(line, ";")
	fields := strings.Fields(strings.Trim(line, `"',`))
	if len(fields) > 1 && isSink(fields[0]) { // a hosts file
		return slices.DeleteFunc(fields[1:], func(name string) bool { return slices.Contains(localNames, strings.ToLower(name)) }), ""
	}
	if len(fields) > 1 {
		return nil, "it has several words"
	}
	return fields, ""
}

// isSink reports whether a hosts file gives this address to blocked names.
func isSink(address string) bool {
	return slices.Contains([]string{"0.0.0.0", "127.0.0.1", "::", "::1", "0", "fe80::1%lo0", "255.255.255.255", "ff00::0", "ff02::1", "ff02::2", "ff02::3"}, address)
}
