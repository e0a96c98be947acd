package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"
)

// apply checks the texts given for k and stores them. place says where they
// stand.
func (k Key) apply(l *loader, values []string, place string) error {
	if k.Repeats() {
		return k.set(l, values, place)
	}
	value := values[len(values)-1] // a flag given twice: the last one counts
	if value == "" {
		return errors.New("the value is empty")
	}
	if len(k.Values) > 0 && !slices.Contains(k.Values, value) {
		return &hintError{
			fmt.Sprintf("want %s, got %q", oneOf(k.Values), value),
			didYouMean(value, k.Values),
		}
	}
	return k.set(l, []string{value}, place)
}

func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func text(field func(*Config) *string) func(*loader, []string, string) error {
	return func(l *loader, values []string, _ string) error {
		if strings.ContainsRune(values[0], 0) {
			return errors.New("the value holds a NUL byte")
		}
		*field(l.cfg) = values[0]
		return nil
	}
}

// word is for keys whose words apply has checked.
func word(field func(*Config) *string) func(*loader, []string, string) error {
	return text(field)
}

func boolean(field func(*Config) *bool) func(*loader, []string, string) error {
	return func(l *loader, values []string, _ string) error {
		switch values[0] {
		case "true":
			*field(l.cfg) = true
		case "false":
			*field(l.cfg) = false
		default:
			return fmt.Errorf("want true or false, got %q", values[0])
		}
		return nil
	}
}

func profile(l *loader, values []string, _ string) error {
	name := values[0]
	if !slices.Contains(l.req.Profiles, name) {
		hint := didYouMean(name, l.req.Profiles)
		if hint == "" {
			hint = "profiles are " + strings.Join(l.req.Profiles, ", ")
		}
		return &hintError{fmt.Sprintf("no profile is named %q", name), hint}
	}
	l.cfg.Profile = name
	return nil
}

// maxJobs keeps a slip of the finger from starting a million goroutines.
const maxJobs = 1024

func jobs(l *loader, values []string, _ string) error {
	n, err := strconv.Atoi(values[0])
	if err != nil || n < 0 || n > maxJobs {
		return fmt.Errorf("want a whole number from 0 to %d, got %q", maxJobs, values[0])
	}
	l.cfg.Jobs = n
	return nil
}

// maxPageBytes is the largest max-page-size: places in a page are kept in 32
// bits.
const maxPageBytes = 2 << 30

func pageSize(l *loader, values []string, _ string) error {
	n, err := parseSize(values[0])
	if err != nil {
		return err
	}
	if n < 1 || n > maxPageBytes {
		return fmt.Errorf("want a size from 1B to 2GiB, got %q", values[0])
	}
	l.cfg.MaxPageBytes = n
	return nil
}

// parseSize reads 4096, 500kB, 64 MiB: units of 1000 or 1024, any letter case.
// The result is math.MaxInt64 when it does not fit.
func parseSize(text string) (int64, error) {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	unit, ok := map[string]float64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}[strings.ToLower(strings.TrimSpace(text[end:]))]
	n, err := strconv.ParseInt(text[:end], 10, 64)
	if !ok || err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, &hintError{fmt.Sprintf("want a size, got %q", text), "sizes look like 64MiB, 500kB or 4096"}
	}
	if err != nil || float64(n)*unit >= math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return n * int64(unit), nil
}

func baseURLs(l *loader, values []string, _ string) error {
	for _, v := range values {
		u, err := url.Parse(v)
		switch {
		case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
			return &hintError{fmt.Sprintf("want an absolute http or https URL, got %q", v), "write it like https://example.org/blog/"}
		case u.RawQuery != "", u.Fragment != "":
			return fmt.Errorf("a base URL has neither query nor fragment, got %q", v)
		case u.User != nil:
			return errors.New("a base URL names no user") // and the password stays out of the message
		}
	}
	l.cfg.BaseURLs = values
	return nil
}

func index(l *loader, values []string, _ string) error {
	for _, v := range values {
		if v == "" || v == "." || v == ".." || strings.ContainsAny(v, "/\x00") {
			return fmt.Errorf("want the name of a file, got %q", v)
		}
	}
	l.cfg.Index = values
	return nil
}

// maps reads PREFIX and /a=/b. A slash left out at the front is added: the
// commonest rule, cgi-bin/htimage, is often written without (LL-92).
func maps(l *loader, values []string, _ string) error {
	var rules []MapRule
	for _, v := range values {
		from, to, replaces := strings.Cut(v, "=")
		if strings.Trim(from, "/") == "" {
			return &hintError{fmt.Sprintf("want a path prefix, got %q", v), "rules look like /cgi-bin/imagemap or /old=/new"}
		}
		if strings.ContainsAny(v, "?#\x00") {
			return fmt.Errorf("a rule is about paths: no query, no fragment, got %q", v)
		}
		rule := MapRule{From: "/" + strings.Trim(from, "/")}
		if replaces && strings.Trim(to, "/") != "" {
			rule.To = "/" + strings.Trim(to, "/")
		}
		rules = append(rules, rule)
	}
	l.cfg.Maps = rules
	return nil
}

func charsetName(l *loader, values []string, _ string) error {
	if encoding, _ := charset.Lookup(values[0]); encoding == nil {
		return &hintError{fmt.Sprintf("no encoding is named %q", values[0]), "names look like utf-8, windows-1252 or shift_jis"}
	}
	l.cfg.DefaultCharset = values[0]
	return nil
}
