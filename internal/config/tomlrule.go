package config

import (
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// inlineRules takes ignore = [{url = "...", reason = "..."}, ...].
func (f *tomlFile) inlineRules(at *Error, n *unstable.Node) {
	if n.Kind != unstable.Array {
		f.failAt(at, "write [[ignore]]", "ignore is a list of tables, got %s", describe(n))
		return
	}
	for it := n.Children(); it.Next(); {
		table := it.Node()
		if table.Kind != unstable.InlineTable {
			f.failAt(at, "write [[ignore]]", "ignore is a list of tables, got %s in it", describe(table))
			return
		}
		f.rule, f.ruleAt = &Ignore{}, f.at(table)
		for fields := table.Children(); fields.Next(); {
			path, first := keyPath(fields.Node().Key())
			f.ruleField(path, f.at(first), fields.Node().Value())
		}
		f.endRule()
	}
}

// ruleField takes one key of an [[ignore]] table.
func (f *tomlFile) ruleField(path []string, at *Error, n *unstable.Node) {
	name := strings.Join(path, ".")
	field := f.rule.field(name)
	switch {
	case field == nil:
		f.failAt(at, didYouMean(name, ignoreFields), "unknown key %q in [[ignore]]", name)
	case n.Kind != unstable.String:
		f.failAt(at, "", "%s: want a string, got %s", name, describe(n))
	case strings.TrimSpace(string(n.Data)) == "":
		f.failAt(at, "", "%s: the value is empty", name)
	default:
		*field = string(n.Data)
		return
	}
	f.ruleAt = nil // one message for a rule is enough: what it lacks may follow from this
}

// endRule checks and keeps the rule that ends here, if there is one.
func (f *tomlFile) endRule() {
	rule, at := f.rule, f.ruleAt
	f.rule, f.ruleAt = nil, nil
	if rule == nil || at == nil {
		return
	}
	rule.Origin = f.name + ":" + strconv.Itoa(at.Line)
	if err := rule.check(f.req.Codes); err != nil {
		f.failAt(at, hintOf(err), "ignore: %v", err)
		return
	}
	if rule.Reason == "" {
		f.failAt(at, `add reason = "..."`, "ignore: the rule gives no reason")
		return
	}
	f.cfg.Ignores = append(f.cfg.Ignores, *rule)
}
