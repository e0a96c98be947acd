package analysis

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/disk"
)

// Edit replaces bytes of a file by a text. Name is its name on disk.
type Edit struct {
	Name       string
	Start, End int
	Text       string
	// Was is the text of the file that the edit is for; Create reports that there is
	// no such file yet.
	Was    []byte
	Create bool
}

// maxConfig is the size in bytes of the largest file that accepts findings.
const maxConfig = 16 << 20

// readBeside reads a file of the project that may not exist.
func readBeside(name string) (text []byte, create bool, err error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular() || info.Size() > maxConfig:
		return nil, false, fmt.Errorf("%s is not a regular file of at most %d bytes", name, maxConfig)
	}
	text, err = disk.Read(name, 64<<20)
	return text, false, err
}

// AcceptInBaseline returns the edit that adds the findings of links to the baseline.
func (s *Snapshot) AcceptInBaseline(links []check.Link, today baseline.Date) (Edit, error) {
	name := s.Project.Abs(audit.BaselineFile(s.Project.Config))
	text, create, err := readBeside(name)
	if err != nil {
		return Edit{}, err
	}
	b := &baseline.Baseline{}
	if !create {
		if b, err = baseline.Read(name, bytes.NewReader(text)); err != nil {
			return Edit{}, err
		}
	}
	findings := make([]check.Finding, len(links))
	for i := range links {
		findings[i] = links[i].Finding()
	}
	m := b.Match(findings, today, func(*baseline.Entry) bool { return false })
	var out strings.Builder
	if err := b.Update(findings, m, true, baseline.Terms{Reason: "accepted in the editor"}).Baseline.Write(&out); err != nil {
		return Edit{}, err
	}
	return Edit{Name: name, End: len(text), Text: out.String(), Was: text, Create: create}, nil
}

// AcceptByRule returns the edit that adds an ignore rule for a link to the
// configuration. The author completes its reason.
func (s *Snapshot) AcceptByRule(l *check.Link) (Edit, error) {
	name := cmp.Or(s.Project.Config.File, filepath.Join(s.Project.Root, "sitelink.toml"))
	text, create, err := readBeside(s.Project.Abs(name))
	if err != nil {
		return Edit{}, err
	}
	url := cmp.Or(l.Target, l.Raw)
	rule := "[[ignore]]\nurl = " + tomlString(literalPattern(url)) + "\n"
	if l.Fragment != "" {
		rule += "fragment = " + tomlString(literalPattern(l.Fragment)) + "\n"
	}
	rule += "code = " + tomlString(string(l.Code)) + "\nreason = \"\" # why may this link stay?\n"
	if len(text) > 0 {
		if text[len(text)-1] != '\n' {
			rule = "\n" + rule
		}
		rule = "\n" + rule
	}
	return Edit{Name: s.Project.Abs(name), Start: len(text), End: len(text), Text: rule, Was: text, Create: create}, nil
}

// literalPattern escapes the characters that have a meaning in patterns.
func literalPattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(text)
}

// tomlString writes a string of TOML.
func tomlString(text string) string {
	if strings.ContainsAny(text, "'\n\r\t") || !strings.Contains(text, `\`) {
		return strconv.Quote(text)
	}
	return "'" + text + "'"
}
