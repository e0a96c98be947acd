package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// runMoves moves random pages, sections and static files of a real Hugo site, each from
// the same start, and builds and checks the site after each move: no finding may be new
// except via-redirect of links that no source has as they are, the old addresses must answer,
// and `mv --undo` must restore every byte.
func runMoves(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	var site, hugo, profile string
	var n int
	var seed uint64
	if err := s.parse("moves", args, func(fs *flag.FlagSet) {
		fs.StringVar(&site, "site", "", "`directory` of a Hugo site; it is copied, never written")
		fs.StringVar(&hugo, "hugo", "hugo", "`program` that builds it")
		fs.StringVar(&profile, "profile", "netlify", "hosting `profile`, with rules for redirects")
		fs.IntVar(&n, "moves", 50, "how many moves")
		fs.Uint64Var(&seed, "seed", 1, "chooses the moves")
	}); err != nil {
		return err
	}
	if site == "" {
		return fmt.Errorf("%w: moves needs -site", errUsage)
	}
	tools, err := s.tools(ctx, hugo)
	if err != nil {
		return err
	}
	var r result
	r.machine(ctx, s.date)
	tmp, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	m := mover{measurement: tools.in(tmp),
		profile: profile, random: rand.New(rand.NewPCG(seed, 0)), out: out}
	if err := m.run(ctx, filepath.Clean(site), n); err != nil {
		return err
	}
	r.addf("sitelink  %s\nsite      %s, seed %d, profile %s\n\n", tools.version, site, seed, profile)
	r.addf("%d of %d moves made, %d refused\n%d with new findings, %d with known broken links on pages that the generator adds or that list what moved, %d with old addresses that do not answer, %d not restored to the byte\n", m.made, n, m.refused, m.worse, m.repeated, m.dead, m.notRestored)
	if err := r.keep(&s, "moves", out); err != nil {
		return err
	}
	if m.worse+m.dead+m.notRestored > 0 {
		return errors.New("a move broke the site, or was not undone")
	}
	return nil
}

// mover moves files of one site.
type mover struct {
	measurement
	profile                                 string
	random                                  *rand.Rand
	out                                     io.Writer
	pages, sections, static                 []string
	findings                                map[finding][]string // before
	lines                                   map[string]bool      // of the sources, before
	addresses                               map[string]bool
	made, refused, worse, dead, notRestored int
	repeated                                int // with known broken links on other pages
}

func (m *mover) run(ctx context.Context, from string, n int) error {
	if err := m.prepare(from); err != nil {
		return err
	}
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A"}, {"git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "bench"}} {
		if said, code := m.start(ctx, args...); code != 0 {
			return fmt.Errorf("%s: %s", args, said)
		}
	}
	if err := m.list(); err != nil {
		return err
	}
	if err := m.build(ctx); err != nil {
		return err
	}
	var err error
	if m.findings, m.addresses, err = m.state(ctx, nil); err != nil {
		return err
	}
	m.lines = map[string]bool{}
	if err := m.eachLine(func(line string) { m.lines[line] = true }); err != nil {
		return err
	}
	start, err := m.snapshot()
	if err != nil {
		return err
	}
	for i := range n {
		if err := m.one(ctx, i); err != nil {
			return err
		}
		now, err := m.snapshot()
		if err != nil {
			return err
		}
		if !maps.Equal(now, start) {
			m.notRestored++
			return fmt.Errorf("move %d was not undone: the site has to be copied again", i)
		}
	}
	return nil
}

// list finds what can move.
func (m *mover) list() error {
	seen := map[string]bool{}
	return fs.WalkDir(os.DirFS(m.site), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		dir, base := path.Dir(name), path.Base(name)
		switch {
		case strings.HasPrefix(name, "content/") && path.Ext(name) == ".md" && base == "index.md":
			m.pages = append(m.pages, dir)
		case strings.HasPrefix(name, "content/") && path.Ext(name) == ".md" && base != "_index.md":
			m.pages = append(m.pages, name)
			if dir != "content" && !seen[dir] {
				seen[dir] = true
				m.sections = append(m.sections, dir)
			}
		case strings.HasPrefix(name, "static/") && base != "_redirects":
			m.static = append(m.static, name)
		}
		return nil
	})
}

// one makes one move, checks the result and undoes it.
func (m *mover) one(ctx context.Context, i int) error {
	all := m.pages
	switch k := m.random.IntN(10); {
	case k >= 7 && k < 9 && len(m.sections) > 0:
		all = m.sections
	case k == 9 && len(m.static) > 0:
		all = m.static
	}
	old := all[m.random.IntN(len(all))]
	dir, ext := path.Dir(old), path.Ext(old)
	switch m.random.IntN(3) {
	case 1:
		dir = path.Join(dir, fmt.Sprint("deeper", i))
	case 2:
		if other := m.sections; len(other) > 0 && strings.HasPrefix(old, "content/") {
			if to := other[m.random.IntN(len(other))]; !strings.HasPrefix(to+"/", old+"/") {
				dir = to
			}
		}
	}
	moved := path.Join(dir, fmt.Sprintf("%s-moved%d%s", strings.TrimSuffix(path.Base(old), ext), i, ext))
	began := time.Now()
	said, code := m.start(ctx, m.sitelink, "mv", "--write", "--profile", m.profile, old, moved)
	took := time.Since(began)
	if code != 0 {
		m.refused++
		fmt.Fprintf(m.out, "%d %s -> %s: refused\n%s", i, old, moved, said)
		return ctx.Err()
	}
	m.made++
	if err := m.build(ctx); err != nil {
		return err
	}
	back := map[string]string{}
	for line := range strings.Lines(said) {
		if a, b, ok := strings.Cut(strings.TrimSpace(line), " -> "); ok && strings.HasPrefix(a, "/") {
			back[b] = a
		}
	}
	now, addresses, err := m.state(ctx, back)
	if err != nil {
		return err
	}
	var dead []string
	added, repeated, err := m.added(now, path.Dir(moved))
	if err != nil {
		return err
	}
	for a := range m.addresses {
		if addresses[a] || hashed.MatchString(a) {
			continue
		}
		if _, code := m.start(ctx, m.sitelink, "explain", a, "--docroot", "public", "--profile", m.profile); code != 0 {
			dead = append(dead, a)
		}
	}
	if len(added) > 0 {
		m.worse++
	}
	if repeated > 0 {
		m.repeated++
	}
	if len(dead) > 0 {
		m.dead++
	}
	fmt.Fprintf(m.out, "%d %s -> %s: %.1f s, new findings %q, %d known ones on other pages, dead addresses %q\n", i, old, moved, took.Seconds(), added, repeated, dead)
	if said, code := m.start(ctx, m.sitelink, "mv", "--undo"); code != 0 {
		return fmt.Errorf("undo: %s", said)
	}
	return nil
}

// hashed matches names with a hash of the content, which no other site links to.
var hashed = regexp.MustCompile(`[._-](?:hu_?)?[0-9a-f]{8,}[._-]`)

// finding is what a check reports of a link, with addresses as they were before the move.
type finding struct{ code, page, target, fragment string }

// added returns the findings that are new, or more than before. It leaves out links through
// a redirect that a template composes. repeated is how many of the others have a broken link
// that the site had before, on a page that the generator adds or on the list or feed of
// the section to which the page has moved, a directory of sources.
func (m *mover) added(now map[finding][]string, section string) (names []string, repeated int, err error) {
	list := strings.TrimPrefix(section, "content") + "/"
	had := map[finding]bool{} // on any page
	for f := range m.findings {
		f.page = ""
		had[f] = true
	}
	var left []string // lines that the move has not changed
	for f, raws := range now {
		if len(raws) <= len(m.findings[f]) {
			continue
		}
		if f.code == "via-redirect" {
			if left == nil {
				if left, err = m.unchanged(); err != nil {
					return nil, 0, err
				}
			}
			if !slices.ContainsFunc(raws, func(raw string) bool { return isWritten(left, raw) }) {
				continue
			}
		}
		lists := f.page == list || f.page == list+"index.xml"
		if (lists || !m.addresses[f.page]) && had[finding{f.code, "", f.target, f.fragment}] {
			repeated++
			continue
		}
		names = append(names, fmt.Sprintf("%s on %s: %s#%s", f.code, f.page, f.target, f.fragment))
	}
	slices.Sort(names)
	return names, repeated, nil
}

// isWritten reports whether a line of a source has the value of a link as it is.
func isWritten(lines []string, raw string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		for at := 0; ; at++ {
			i := strings.Index(line[at:], raw)
			if i < 0 {
				return false
			}
			at += i
			end := at + len(raw)
			if (at == 0 || strings.IndexByte(" \t\"'`(<[=:,", line[at-1]) >= 0) && (end == len(line) || strings.IndexByte(" \t\"'`)>],", line[end]) >= 0) {
				return true
			}
		}
	})
}

// unchanged returns the lines of the sources that were there before the move.
func (m *mover) unchanged() (left []string, err error) {
	err = m.eachLine(func(line string) {
		if m.lines[line] {
			left = append(left, line)
		}
	})
	return left, err
}

// eachLine reads the texts in which an author writes links.
func (m *mover) eachLine(do func(line string)) error {
	tree := os.DirFS(m.site)
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && slices.Contains([]string{".git", ".sitelink", "public", "resources"}, name) {
				return fs.SkipDir
			}
			return err
		}
		switch path.Ext(name) {
		case ".md", ".html", ".htm", ".toml", ".yaml", ".yml", ".json", ".css", ".xml", ".txt":
			text, err := fs.ReadFile(tree, name)
			for line := range strings.Lines(string(text)) {
				do(strings.TrimRight(line, "\r\n"))
			}
			return err
		}
		return nil
	})
}

// state returns the findings of the built site, with what is written in the pages, and
// the paths that answer.
func (m *mover) state(ctx context.Context, back map[string]string) (all map[finding][]string, addresses map[string]bool, err error) {
	all, addresses = map[finding][]string{}, map[string]bool{}
	before := func(address string) string {
		longest := ""
		for b := range back {
			if (address == b || strings.HasPrefix(address, strings.TrimSuffix(b, "/")+"/")) && len(b) > len(longest) {
				longest = b
			}
		}
		if longest == "" {
			return address
		}
		return strings.TrimSuffix(back[longest], "/") + address[len(strings.TrimSuffix(longest, "/")):]
	}
	said, _ := m.start(ctx, m.sitelink, "check", "public", "--all", "--format", "jsonl", "--source", "off", "--fail-on", "never", "--profile", m.profile)
	for line := range strings.Lines(said) {
		var f struct{ Page, Code, Target, Fragment, Raw string }
		if json.Unmarshal([]byte(line), &f) != nil || f.Code == "" {
			continue
		}
		key := finding{f.Code, before("/" + strings.TrimSuffix(f.Page, "index.html")), before(strings.TrimSuffix(f.Target, "index.html")), f.Fragment}
		all[key] = append(all[key], f.Raw)
	}
	said, _ = m.start(ctx, m.sitelink, "links", "public", "--addresses", "--format", "jsonl", "--profile", m.profile)
	for line := range strings.Lines(said) {
		var a struct{ Path string }
		if json.Unmarshal([]byte(line), &a) == nil && a.Path != "" {
			addresses[a.Path] = true
		}
	}
	if len(addresses) == 0 {
		return nil, nil, errors.New("the site has no addresses")
	}
	return all, addresses, ctx.Err()
}

// start runs a program in the site, with Hugo on the path, and returns its output.
func (m *mover) start(ctx context.Context, args ...string) (said string, code int) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = m.site, &out, &out
	cmd.Env = append(os.Environ(), "PATH="+m.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err.Error(), -1
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// snapshot returns a hash of each source file, and of git's index.
func (m *mover) snapshot() (map[string][32]byte, error) {
	sums := map[string][32]byte{}
	tree := os.DirFS(m.site)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", ".sitelink", "public", "resources"}, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || name == ".hugo_build.lock" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		sums[name] = sha256.Sum256(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(m.site, ".git", "index"))
	sums["git's index"] = sha256.Sum256(text)
	return sums, err
}
