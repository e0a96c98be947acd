package config

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"
)

// texts turns a value of the file into the texts that a flag would give.
func (f *tomlFile) texts(k Key, n *unstable.Node) ([]string, error) {
	switch k.Kind {
	case List:
		return listTexts(n)
	case Reports:
		values, err := listTexts(n)
		for i, v := range values {
			values[i] = resolveFormat(v, f.projectDir)
		}
		return values, err
	case Number:
		if n.Kind != unstable.Integer {
			return nil, fmt.Errorf("want a number, got %s", describe(n))
		}
		return integerText(n)
	case Size:
		if n.Kind == unstable.Integer {
			return integerText(n)
		}
	case Bool:
		if n.Kind != unstable.Bool {
			return nil, fmt.Errorf("want true or false, got %s", describe(n))
		}
		return []string{string(n.Data)}, nil
	case Switch:
		if n.Kind == unstable.Bool {
			return []string{string(n.Data)}, nil
		}
	}
	if n.Kind != unstable.String {
		return nil, fmt.Errorf("want a string, got %s", describe(n))
	}
	value := string(n.Data)
	if k.Kind == Path && value != "" && value != "-" && !filepath.IsAbs(value) {
		value = filepath.Join(f.projectDir, filepath.FromSlash(value))
	}
	return []string{value}, nil
}

// integerText brings 1_000 and 0x10 to the form that flags have.
func integerText(n *unstable.Node) ([]string, error) {
	i, err := strconv.ParseInt(string(n.Data), 0, 64)
	if err != nil {
		return nil, fmt.Errorf("want a number, got %q", n.Data)
	}
	return []string{strconv.FormatInt(i, 10)}, nil
}

func listTexts(n *unstable.Node) ([]string, error) {
	if n.Kind == unstable.String {
		return []string{string(n.Data)}, nil
	}
	if n.Kind != unstable.Array {
		return nil, fmt.Errorf("want a list of strings, got %s", describe(n))
	}
	values := []string{}
	for it := n.Children(); it.Next(); {
		if it.Node().Kind != unstable.String {
			return nil, fmt.Errorf("want a list of strings, got %s in it", describe(it.Node()))
		}
		values = append(values, string(it.Node().Data))
	}
	return values, nil
}

// describe names the type of a value for a person.
func describe(n *unstable.Node) string {
	switch n.Kind {
	case unstable.String:
		return "a string"
	case unstable.Bool:
		return string(n.Data)
	case unstable.Integer, unstable.Float:
		return fmt.Sprintf("the number %s", n.Data)
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	}
	return "a date or time"
}
