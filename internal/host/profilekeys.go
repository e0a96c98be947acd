package host

import (
	"fmt"
	pathpkg "path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ProfileKey is one field of a [Profile] as the configuration names it.
type ProfileKey struct {
	// Name is the key in the table [host] of sitelink.toml.
	Name string
	// Values are the words that the key takes; nil for other types.
	Values []string
	// Type is "word", "text", "list", "status" or "switch".
	Type string
	// Help is one line, lower case, no full stop.
	Help string

	field func(*Profile) any
}

// rulesWays returns the values of the key rules, rulesHelp what they mean.
func rulesWays() []string {
	all := []string{string(RulesNone)}
	for _, k := range kinds {
		if k.Rules != RulesNone {
			all = append(all, string(k.Rules))
		}
	}
	return all
}

func rulesHelp() string {
	var all []string
	for _, k := range kinds {
		if k.Rules != RulesNone {
			var names []string
			for _, f := range k.Files {
				names = append(names, f.Name)
			}
			all = append(all, string(k.Rules)+" ("+strings.Join(names, ", ")+")")
		}
	}
	return strings.Join(all, ", ")
}

// profileKeys are the fields of Profile with a tag key, in their order.
var profileKeys = func() (all []ProfileKey) {
	for i, f := range reflect.VisibleFields(reflect.TypeFor[Profile]()) {
		k := ProfileKey{Name: f.Tag.Get("key"), Values: strings.Fields(f.Tag.Get("values")), Help: f.Tag.Get("help"),
			field: func(p *Profile) any { return reflect.ValueOf(p).Elem().Field(i).Addr().Interface() }}
		if k.Name == "" {
			continue
		}
		if k.Name == "rules" {
			k.Values, k.Help = rulesWays(), k.Help+rulesHelp()
		}
		k.Type = map[string]string{"[]string": "list", "host.Way": "word", "string": "text", "bool": "switch", "int": "status"}[f.Type.String()]
		all = append(all, k)
	}
	return all
}()

// ProfileKeys returns the fields of a profile that the configuration can set,
// in the order in which the manual lists them.
func ProfileKeys() []ProfileKey { return slices.Clone(profileKeys) }

// Set sets a field: a list to all values, any other field to the only one. The
// error says which values the field takes.
func (p *Profile) Set(key string, values []string) error {
	i := slices.IndexFunc(profileKeys, func(k ProfileKey) bool { return k.Name == key })
	if i < 0 {
		return fmt.Errorf("no such key")
	}
	k := &profileKeys[i]
	if list, ok := k.field(p).(*[]string); ok {
		for _, v := range values {
			if v == "" || strings.Contains(v, "/") {
				return fmt.Errorf("must be names without a slash, not %q", v)
			}
			if _, err := pathpkg.Match(v, ""); err != nil {
				return fmt.Errorf("invalid pattern %q", v)
			}
		}
		*list = slices.Clone(values)
		return nil
	}
	if len(values) != 1 {
		return fmt.Errorf("must be one value, not %d", len(values))
	}
	value := values[0]
	if len(k.Values) > 0 && !slices.Contains(k.Values, value) {
		return fmt.Errorf("must be one of %s, not %q", strings.Join(k.Values, ", "), value)
	}
	switch f := k.field(p).(type) {
	case *string:
		*f = value
	case *Way:
		*f = Way(value)
	case *bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", value)
		}
		*f = b
	case *int:
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fmt.Errorf("must be a whole number, not %q", value)
		}
		if k.Type == "status" && n != 0 && (n < 400 || n > 599) {
			return fmt.Errorf("must be a status from 400 to 599, or 0, not %d", n)
		}
		*f = n
	}
	return nil
}

// Describe returns the profile as the table [host] of sitelink.toml, with a
// comment for each field.
func (p *Profile) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "profile = %q\n\n[host]\n", p.Name)
	for i := range profileKeys {
		k := &profileKeys[i]
		fmt.Fprintf(&b, "# %s\n%s = ", k.Help, k.Name)
		switch f := k.field(p).(type) {
		case *[]string:
			b.WriteByte('[')
			for i, v := range *f {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(strconv.Quote(v))
			}
			b.WriteByte(']')
		case *string:
			b.WriteString(strconv.Quote(*f))
		case *Way:
			b.WriteString(strconv.Quote(string(*f)))
		case *bool:
			b.WriteString(strconv.FormatBool(*f))
		case *int:
			b.WriteString(strconv.Itoa(*f))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
