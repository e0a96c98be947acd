package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// peers are the columns of the tables of times, in their order.
var peers = []struct{ name, label string }{
	{"sitelink", labelSitelink}, {"hyperlink", "hyperlink --check-anchors"},
	{"lychee", "lychee --include-fragments"}, {"linklint", "linklint"},
}

// timesRow is a row of times in README.md: "| rust-doc, 32,101 pages | ...".
var timesRow = regexp.MustCompile(`(?m)^\| ([a-z0-9.-]+), [0-9,]+ pages \|.*$`)

// runDocument writes docs/design/measurements.md from measurements.tmpl and the
// newest results, and the times in README.md. With -check it only compares.
func runDocument(args []string, out io.Writer) error {
	check := slices.Equal(args, []string{"-check"})
	if len(args) > 0 && !check {
		return fmt.Errorf("%w: document takes -check or nothing", errUsage)
	}
	tmpl, err := template.New("measurements.tmpl").Funcs(template.FuncMap{"times": times, "section": section}).ParseFiles("measurements.tmpl")
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := tmpl.Execute(&text, nil); err != nil {
		return err
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		return err
	}
	var failed error
	written := map[string]string{"../docs/design/measurements.md": text.String(),
		"../README.md": timesRow.ReplaceAllStringFunc(string(readme), func(row string) string {
			row, err := times(timesRow.FindStringSubmatch(row)[1])
			if err != nil {
				failed = err
			}
			return row
		})}
	if failed != nil {
		return failed
	}
	for name, text := range written {
		old, err := os.ReadFile(name)
		switch {
		case err != nil:
			return err
		case string(old) == text:
		case check:
			return fmt.Errorf("%s is not what the results say; run: cd bench && go run . document", name)
		default:
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				return err
			}
			fmt.Fprintln(out, "wrote", name)
		}
	}
	return nil
}

// newest returns the text of the newest result with that name.
func newest(name string) (string, error) {
	files, err := filepath.Glob(filepath.Join("results", "*-"+name+".txt"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("results has no file for %s: %v", name, err)
	}
	text, err := os.ReadFile(slices.Max(files))
	return string(text), err
}

// section returns the table below a title of a result, as it is there.
func section(name, title string) (string, error) {
	text, err := newest(name)
	_, table, ok := strings.Cut(text, "\n"+title+"\n")
	if err == nil && !ok {
		err = fmt.Errorf("the result %s has no table %q", name, title)
	}
	_, table, _ = strings.Cut(table, "\n")
	table, _, _ = strings.Cut(table, "\n\n")
	return strings.TrimSuffix(table, "\n"), err
}

// times returns the row of a corpus: the median of each program.
func times(corpus string) (string, error) {
	text, err := newest(corpus)
	if err != nil {
		return "", err
	}
	pages := regexp.MustCompile(`([0-9,]+) pages`).FindStringSubmatch(text)
	_, group, _ := strings.Cut(text, "like for like: internal links and fragments\n")
	if pages == nil {
		return "", fmt.Errorf("the result %s has no number of pages", corpus)
	}
	row := "| " + corpus + ", " + pages[0] + " |"
	for _, p := range peers {
		m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(p.label) + `\s+(?:> )?[0-9.]+\s+((?:> )?)([0-9.]+)`).FindStringSubmatch(group)
		if m == nil {
			return "", fmt.Errorf("the result %s has no row for %s", corpus, p.name)
		}
		seconds, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return "", err
		}
		if m[1] != "" { // stopped at a limit
			row += fmt.Sprintf(" > %.0f s |", seconds)
		} else {
			row += fmt.Sprintf(" %.2f s |", seconds)
		}
	}
	return row, nil
}
