package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/textproto"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/sitelink/sitelink/internal/glob"

	"github.com/sitelink/sitelink/internal/text"
)

// assign parses the texts given for k and stores them in field. place is where
// they are given. Errors complete the sentence "KEY: ...".
func (l *loader) assign(k Key, field reflect.Value, texts []string, place string) error {
	switch k.Kind {
	case Rules:
		for _, text := range texts {
			rule, err := parseIgnore(text)
			if err != nil {
				return err
			}
			rule.Origin = place
			if err := rule.check(l); err != nil {
				return err
			}
			l.cfg.Ignores = append(l.cfg.Ignores, rule)
		}
		return nil
	case Reports:
		formats, err := parseFormats(texts, k.Values)
		if err == nil {
			l.cfg.Formats = formats
		}
		return err
	case Fields:
		fields := map[string]string{}
		for pair := range slices.Chunk(texts, 2) {
			name := textproto.CanonicalMIMEHeaderKey(pair[0])
			if !httpguts.ValidHeaderFieldName(name) || slices.Contains(ownFields, name) {
				return fmt.Errorf("sitelink cannot send a header field named %q", pair[0])
			}
			fields[name] = pair[1]
		}
		field.Set(reflect.ValueOf(fields))
		return nil
	case List:
		if len(texts) == 0 && len(k.Values) > 0 {
			return fmt.Errorf("must have at least one of %s", OneOf(k.Values))
		}
		list := reflect.MakeSlice(field.Type(), 0, len(texts))
		for _, text := range texts {
			v := reflect.New(field.Type().Elem()).Elem()
			if err := l.parse(k, v, text); err != nil {
				return err
			}
			list = reflect.Append(list, v)
		}
		field.Set(list)
		return nil
	}
	return l.parse(k, field, texts[len(texts)-1]) // a flag given twice: the last one counts
}

// ownFields are header fields that sitelink, or the connection, has to set itself.
var ownFields = []string{"Accept-Encoding", "Connection", "Content-Length", "Host", "If-Modified-Since", "If-None-Match", "Range", "Trailer", "Transfer-Encoding", "Upgrade"}

// parse stores one value in v.
func (l *loader) parse(k Key, v reflect.Value, given string) (err error) {
	if given == "" && k.tag.Get("empty") == "" {
		return errors.New("the value is empty")
	}
	if strings.ContainsRune(given, 0) {
		return errors.New("the value contains a NUL byte")
	}
	if len(k.Values) > 0 && !slices.Contains(k.Values, given) {
		return text.Usage(fmt.Sprintf("must be %s, not %q", OneOf(k.Values), given), DidYouMean(given, k.Values))
	}
	if check := checks[k.tag.Get("check")]; check != nil {
		if given, err = check(l.input, given); err != nil {
			return err
		}
	}
	if strings.HasSuffix(k.tag.Get("check"), "-pattern") {
		if err := l.addPattern(given); err != nil {
			return err
		}
	}
	switch to := v.Addr().Interface().(type) {
	case *string:
		*to = given
	case *bool:
		if given != "true" && given != "false" {
			return fmt.Errorf("must be true or false, not %q", given)
		}
		*to = given == "true"
	case *int:
		*to, err = parseNumber(k, given)
	case *int64:
		*to, err = parseSize(k, given)
	case *time.Duration:
		*to, err = parseDuration(k, given)
	case *netip.Prefix:
		*to, err = ParseNetwork(given)
	case *MapRule:
		*to, err = parseMapRule(given)
	default:
		panic(fmt.Sprintf("key %s: no parser for %T", k.Name, to)) // every test sets every key
	}
	return err
}

// OneOf returns "a, b or c", for messages.
func OneOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func parseNumber(k Key, text string) (int, error) {
	least, most := 0, math.MaxInt32
	if text := k.tag.Get("min"); text != "" {
		least, _ = strconv.Atoi(text)
	}
	if text := k.tag.Get("max"); text != "" {
		most, _ = strconv.Atoi(text)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("must be a whole number from %d to %d, not %q", least, most, text)
	}
	return n, nil
}

func parseSize(k Key, text string) (int64, error) {
	n, ok := bytesOf(text)
	if !ok {
		return 0, fmt.Errorf("must be %s, not %q", k.wants(), text)
	}
	least, most := k.tag.Get("min"), k.tag.Get("max")
	minimum, _ := bytesOf(least)
	maximum, _ := bytesOf(most)
	if n < minimum || n > maximum {
		return 0, fmt.Errorf("must be a size from %s to %s, not %q", least, most, text)
	}
	return n, nil
}

// bytesOf parses 4096, 500kB and 64 MiB: units of 1000 or 1024, in any letter
// case. The result is math.MaxInt64 if it does not fit.
func bytesOf(text string) (n int64, ok bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	unit, ok := map[string]float64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}[strings.ToLower(strings.TrimSpace(text[end:]))]
	n, err := strconv.ParseInt(text[:end], 10, 64)
	if !ok || err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	if err != nil || float64(n)*unit >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return n * int64(unit), true
}

func parseDuration(k Key, text string) (time.Duration, error) {
	least, _ := time.ParseDuration(k.tag.Get("min"))
	most, _ := time.ParseDuration(k.tag.Get("max"))
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("must be %s, not %q", k.wants(), text)
	case d < least || d > most:
		return 0, fmt.Errorf("must be a time from %v to %s, not %q", least, k.tag.Get("max"), text)
	}
	return d, nil
}

// ParseNetwork parses an address, or a network in CIDR form.
func ParseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return network, fmt.Errorf("must be an address or a network such as 127.0.0.0/8, not %q", text)
	}
	return network.Masked(), nil
}

// checks validate the values of keys, by the tag check. Each returns the value
// in its canonical form.
var checks = map[string]func(input Input, text string) (string, error){
	"profile": func(input Input, given string) (string, error) {
		if input.Profiles == nil || slices.Contains(input.Profiles, given) {
			return given, nil
		}
		hint := cmp.Or(DidYouMean(given, input.Profiles), "profiles are "+strings.Join(input.Profiles, ", "))
		return "", text.Usage(fmt.Sprintf("unknown profile %q", given), hint)
	},
	"generator": func(input Input, given string) (string, error) {
		if input.Generators == nil || slices.Contains(input.Generators, given) {
			return given, nil
		}
		return "", text.Usage(fmt.Sprintf("unknown generator %q", given), "generators are "+strings.Join(input.Generators, ", "))
	},
	"linkset": func(input Input, given string) (string, error) {
		if err := ask(input.Linkset, given); err != nil {
			return "", text.Usage(err.Error(), "linksets look like /, /page.html, /sub/# or /sub/@")
		}
		return given, nil
	},
	"endpoint": func(input Input, given string) (string, error) {
		if input.Endpoint == nil {
			return given, nil
		}
		address, err := input.Endpoint(given)
		if err != nil {
			return "", text.Usage(err.Error(), "endpoints look like https://example.org/webmention")
		}
		return address, nil
	},
	"listen":   func(_ Input, text string) (string, error) { return ParseListen(text) },
	"selector": func(input Input, text string) (string, error) { return text, ask(input.Selector, text) },
	"peer":     func(input Input, text string) (string, error) { return text, ask(input.Peer, text) },
	"base-url": func(_ Input, text string) (string, error) {
		return text, checkBaseURL(text, "https://example.org/blog/")
	},
	"site-url": func(_ Input, text string) (string, error) {
		return text, checkBaseURL(text, "https://fr.example.org/")
	},
	"https-url": func(_ Input, text string) (string, error) {
		return text, checkBaseURL(text, "https://receiver.example/moderation")
	},
	"site-root": func(_ Input, text string) (string, error) {
		root := path.Clean("/" + strings.ReplaceAll(text, `\`, "/"))
		return strings.TrimPrefix(root, "/"), nil
	},
	"file-name": func(_ Input, text string) (string, error) {
		if text == "." || text == ".." || strings.Contains(text, "/") {
			return "", fmt.Errorf("must be the name of a file, without a directory, not %q", text)
		}
		return text, nil
	},
	"extension":    func(_ Input, text string) (string, error) { return parseExtension(text) },
	"page-pattern": func(_ Input, text string) (string, error) { return text, checkPagePattern(text) },
	"target-pattern": func(_ Input, text string) (string, error) {
		if glob.Check(text) == glob.ErrSyntax {
			return "", fmt.Errorf("must be a host, a pattern such as *.example.org, or a pattern of whole addresses such as https://example.org/**, not %q", text)
		}
		return text, nil
	},
	"status": func(_ Input, text string) (string, error) {
		if n, err := strconv.Atoi(text); err != nil || n < 100 || n > 999 {
			return "", fmt.Errorf("must be a status such as 403, not %q", text)
		}
		return text, nil
	},
	"branch": func(_ Input, text string) (string, error) {
		if _, err := path.Match(text, ""); err != nil {
			return "", fmt.Errorf("must be the name of a branch, or a pattern such as release-*, not %q", text)
		}
		return text, nil
	},
	"not-blank": func(_ Input, text string) (string, error) {
		if strings.TrimSpace(text) == "" {
			return "", errors.New("the value is empty")
		}
		return text, nil
	},
}

// ParseListen checks an address to listen on.
func ParseListen(given string) (string, error) {
	if _, port, err := net.SplitHostPort(given); err != nil || port == "" {
		return "", text.Usage(fmt.Sprintf("must be an address with a port, not %q", given), "write it like 127.0.0.1:8035, or :8035 for all interfaces")
	}
	return given, nil
}

// ask calls a function of the input, if it has one.
func ask(check func(string) error, text string) error {
	if check == nil {
		return nil
	}
	return check(text)
}

func checkBaseURL(given, example string) error {
	u, err := url.Parse(given)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return text.Usage(fmt.Sprintf("must be an absolute http or https URL, not %q", given), "write it like "+example)
	case u.User != nil:
		return errors.New("must not contain a user name") // and the password stays out of the message
	case u.RawQuery != "", u.Fragment != "":
		return fmt.Errorf("must have neither query nor fragment, not %q", given)
	}
	return nil
}

// maxExtension is the length of the longest extension of a page's name.
const maxExtension = 16

// parseExtension accepts html and .html, in any letter case (LL-27).
func parseExtension(text string) (string, error) {
	ext := strings.ToLower(strings.TrimPrefix(text, "."))
	bad := strings.IndexFunc(ext, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '+'
	})
	if ext == "" || len(ext) > maxExtension || bad >= 0 {
		return "", fmt.Errorf("must be a file name extension such as html or php, not %q", text)
	}
	return ext, nil
}

func checkPagePattern(text string) error {
	if text[0] == '/' || glob.Check(text) == glob.ErrSyntax {
		return fmt.Errorf("must be a pattern of page paths such as post/**, without a leading slash, not %q", text)
	}
	return nil
}

// MapRule is one value of map: a leading From becomes To, or is removed if To is
// empty. Both begin with a slash.
type MapRule struct {
	From, To string
}

// parseMapRule parses PREFIX and /a=/b. It adds a missing slash at the front:
// the most common rule, cgi-bin/htimage, is often written without (LL-92).
func parseMapRule(given string) (MapRule, error) {
	from, to, replaces := strings.Cut(given, "=")
	if strings.Trim(from, "/") == "" {
		return MapRule{}, text.Usage(fmt.Sprintf("must begin with a path prefix, not %q", given), "rules look like /cgi-bin/imagemap or /old=/new")
	}
	if strings.ContainsAny(given, "?#") {
		return MapRule{}, fmt.Errorf("must consist of paths, without query or fragment, not %q", given)
	}
	rule := MapRule{From: "/" + strings.Trim(from, "/")}
	if replaces && strings.Trim(to, "/") != "" {
		rule.To = "/" + strings.Trim(to, "/")
	}
	return rule, nil
}

// Format is one report to write.
type Format struct {
	// Name is one of the words of the key format.
	Name string
	// File is where the report goes, "" for the place that output names.
	File string
}

// parseFormats parses NAME and NAME=FILE; NAME=- is NAME. Two reports cannot go
// to the same place, so at most one has no file.
func parseFormats(values, words []string) ([]Format, error) {
	var all []Format
	byPlace := map[string]string{}
	for _, v := range values {
		name, file, hasFile := strings.Cut(v, "=")
		switch {
		case !slices.Contains(words, name):
			return nil, text.Usage(fmt.Sprintf("unknown format %q", name), cmp.Or(DidYouMean(name, words), "formats are "+strings.Join(words, ", ")))
		case hasFile && file == "":
			return nil, text.Usage(fmt.Sprintf("the name of the file is missing in %q", v), "write it like "+name+"=report."+name)
		case strings.ContainsRune(file, 0):
			return nil, errors.New("the value contains a NUL byte")
		}
		if file == "-" {
			file = ""
		}
		place := file
		if file != "" {
			place = filepath.Clean(file)
		}
		if other, taken := byPlace[place]; taken && file == "" {
			return nil, text.Usage(fmt.Sprintf("both %s and %s go to standard output", other, v), "give one of them a file: "+name+"=FILE")
		} else if taken {
			return nil, fmt.Errorf("both %s and %s go to the same file", other, v)
		}
		byPlace[place] = v
		all = append(all, Format{name, file})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("must have at least one of %s", OneOf(words))
	}
	return all, nil
}
