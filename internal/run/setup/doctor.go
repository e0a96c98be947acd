package setup

// [Doctor] examines how a project is set up: what works, what is missing,
// and what to type about it. It changes nothing and needs no network.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/run/inject"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// The states of a Diagnosis, as they are printed.
const (
	OK    = "ok"    // as it should be
	Off   = "off"   // not set up, and need not be
	Wrong = "wrong" // keeps sitelink, or the site, from working
)

// Diagnosis is what was found out about one subject.
type Diagnosis struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Text  string `json:"text"`
	// Command is what to type, or to write where Text says; "" for nothing.
	Command string `json:"command,omitempty"`
}

// Doctor is one examination.
type Doctor struct {
	*Survey
	// Project is the project with its configuration; nil when ConfigErr says what
	// is wrong with that.
	Project   *project.Project
	ConfigErr error
	Env       []string
	Getenv    func(string) string
}

// Examine makes all diagnoses: first the description of the project, then the rest sorted
// by name.
func (d *Doctor) Examine(ctx context.Context) []Diagnosis {
	rest := []Diagnosis{d.config(), d.git(ctx), d.hook(), d.ci(), d.endpoints(), d.ledger(ctx), d.files()}
	if limit, ok := watchLimit(); ok {
		rest = append(rest, d.watches(limit))
	}
	slices.SortFunc(rest, func(a, b Diagnosis) int { return cmp.Compare(a.Name, b.Name) })
	return d.without(append([]Diagnosis{
		d.generator(), d.answer(project.AskBuild, "no known command", `build = "..." in [hook] of sitelink.toml`),
		d.docroot(ctx, true), d.baseURL(), d.host(), d.answer(project.AskForm, "no file says how the host writes addresses", ""),
	}, rest...))
}

// without leaves out what the Markdown of a repository does not need: no generator makes it, and
// its address is that of the forge.
func (d *Doctor) without(all []Diagnosis) []Diagnosis {
	if d.Project == nil || !d.Project.OfMarkdown() {
		return all
	}
	return slices.DeleteFunc(all, func(one Diagnosis) bool {
		return one.State == Off && slices.Contains([]string{"generator", "build", "base-url", "addresses", "endpoints", "ledger"}, one.Name)
	})
}

// files names what sitelink keeps in the project and is meant to be committed.
func (d *Doctor) files() Diagnosis {
	file, accepted := config.FileNames[0], baseline.FileName
	if cfg := d.cfg(); cfg != nil {
		file, accepted = cmp.Or(filepath.ToSlash(cfg.File), file), cmp.Or(cfg.Baseline, accepted)
	}
	return Diagnosis{Name: "files", State: OK, Text: fmt.Sprintf("commit %s and %s, if there; git ignores %s, where everything else is", file, accepted, system.StateName)}
}

// cfg returns the configuration, nil if it is wrong.
func (d *Doctor) cfg() *config.Config {
	if d.Project == nil {
		return nil
	}
	return d.Project.Config
}

// site returns the docroot as the user would write it: the configured one, else
// the one that was found.
func (d *Doctor) site() string {
	if cfg := d.cfg(); cfg != nil && cfg.Docroot != "" {
		return cfg.Docroot
	}
	return d.Site
}

func (d *Doctor) config() Diagnosis {
	one := Diagnosis{Name: "config", State: OK}
	switch {
	case d.ConfigErr != nil:
		faults := text.Flatten(d.ConfigErr)
		one.State, one.Text = Wrong, faults[0].Error()
		if len(faults) > 1 {
			one.Text += fmt.Sprintf(", and %s", text.Count(len(faults)-1, "other fault"))
		}
		one.Command = "sitelink check"
		var key *config.Error
		if errors.As(faults[0], &key) && key.Hint != "" {
			one.Command = key.Hint
		}
	case d.cfg().File != "":
		one.Text = filepath.ToSlash(d.cfg().File)
	default:
		one.State, one.Text, one.Command = Off, "no sitelink.toml: sitelink uses what it detects", "sitelink init"
	}
	return one
}

func (d *Doctor) generator() Diagnosis {
	one := Diagnosis{Name: "generator", State: OK}
	p := &d.Facts
	by := d.evidence(project.AskGenerator)
	if d.cfg() != nil && d.cfg().Generator == "" {
		by += `; generator = "NAME" in sitelink.toml overrides`
	}
	switch {
	case d.Generator == nil:
		one.State, one.Text, one.Command = Off, "no known generator: the docroot is checked as it is", `generator = "NAME" in sitelink.toml`
	case p.Installed:
		one.Text = strings.TrimSpace(p.Title + " " + p.Version)
		if program, err := exec.LookPath(d.Generator.Generator.Program()); err == nil {
			one.Text += " at " + program
		}
		one.Text += by
	default:
		one.State, one.Text, one.Command = Wrong, p.Title+" is not installed"+by, p.install()
		if p.Committed { // it need not be built here
			one.State = Off
		}
	}
	return one
}

// Overview makes the diagnoses that take no time, in the order in which a person asks.
func (d *Doctor) Overview(ctx context.Context) []Diagnosis {
	return d.without([]Diagnosis{d.generator(), d.config(), d.docroot(ctx, false), d.baseURL(), d.host(), d.hook()})
}

// docroot loads the site, if load is set, and compares its times with those of the
// sources.
func (d *Doctor) docroot(ctx context.Context, load bool) Diagnosis {
	if d.Project != nil && d.Project.OfMarkdown() {
		return Diagnosis{Name: "docroot", State: OK, Text: "the Markdown of this repository, without a build"}
	}
	one := Diagnosis{Name: "docroot", State: Wrong, Text: d.site()}
	build := "sitelink check DIR"
	if d.Generator != nil && d.Generator.Builds() {
		build = "sitelink check --build"
	}
	one.Command = build
	if d.site() == "" {
		one.Text = "no built site found here"
		return one
	}
	if err := project.CheckDocroot(d.Found.Dir, d.site()); err != nil {
		one.Text = err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			one.Text = d.site() + " is not built yet"
		}
		return one
	}
	committed := ""
	if d.ShouldIgnore != "" {
		committed = ", committed to git: " + UncommitAdvice
	}
	if d.cfg() == nil || !load {
		return Diagnosis{Name: "docroot", State: OK, Text: d.site() + committed}
	}
	a, err := audit.Open(ctx, d.Project, audit.Options{})
	if err != nil {
		one.Text = err.Error()
		return one
	}
	s := a.Site
	one.Text = fmt.Sprintf("%s, %s read%s", d.site()+d.evidence(project.AskDocroot), text.Count(s.Pages(), "file"), committed)
	switch newer := d.newerSource(s); {
	case s.ServerPages() > 0:
		one.Text += fmt.Sprintf(", %s of them written by hugo server and not fit to publish", text.Thousands(s.ServerPages()))
		one.Command = cmp.Or(d.Facts.Usual, build)
	case newer != "":
		one.Text += ", older than " + newer
		one.Command = cmp.Or(d.Facts.Usual, build)
	case d.ShouldIgnore != "":
		one.State, one.Command = OK, Uncommit(d.ShouldIgnore)
	default:
		one.State, one.Command = OK, ""
	}
	return one
}

func (d *Doctor) baseURL() Diagnosis {
	one := Diagnosis{Name: "base-url", State: OK}
	urls := strings.Fields(d.answers().Answers[project.AskBase].Value)
	switch {
	case len(urls) == 0:
		one.State, one.Text = Off, "not known: absolute links to the site itself are not checked"
		one.Command = `base-url = "https://..." in sitelink.toml`
	case isExample(urls[0]):
		one.State, one.Text = Off, urls[0]+" is an example, not an address of yours"
		one.Command = "set it in " + cmp.Or(d.baseIn(), "sitelink.toml")
	default:
		one.Text = strings.Join(urls, ", ") + d.evidence(project.AskBase)
	}
	return one
}

// baseIn returns the file that the base URL comes from.
func (d *Doctor) baseIn() string {
	if d.cfg() != nil && d.cfg().Place("base-url") != "" {
		return d.cfg().Place("base-url")
	}
	if d.Generator != nil && len(d.Generator.Configs) > 0 {
		return d.Show(d.Generator.Configs[0])
	}
	return ""
}

// examples are the hosts that templates of sites come with. A private address or name is
// not among them: a site may be published there.
var examples = []string{"example.org", "example.com", "your-docusaurus-site.example.com", "localhost", "127.0.0.1", "0.0.0.0"}

// isExample reports whether an address is the placeholder of a site's template.
func isExample(address string) bool {
	u, err := url.Parse(address)
	return err == nil && slices.Contains(examples, strings.TrimPrefix(u.Hostname(), "www."))
}

// answers returns the project to ask: with its configuration, unless that is wrong.
func (d *Doctor) answers() *project.Project {
	if d.Project != nil {
		return d.Project
	}
	return d.Found
}

// evidence is what answers a question and what contradicts that, in parentheses; "" if
// nothing answers it.
func (d *Doctor) evidence(q project.Question) string {
	p := d.answers()
	a := p.Answers[q]
	text := p.From(a.Evidence)
	if text == "" || a.Value == "" {
		return ""
	}
	for _, e := range a.Against {
		text += "; " + p.From(e) + " says " + p.Value(e)
	}
	return " (" + text + ")"
}

// answer is the diagnosis of a question that need not have an answer.
func (d *Doctor) answer(q project.Question, none, command string) Diagnosis {
	a := d.answers().Answers[q]
	if a.Value == "" {
		return Diagnosis{Name: q.String(), State: Off, Text: none, Command: command}
	}
	return Diagnosis{Name: q.String(), State: OK, Text: d.answers().Value(a.Evidence) + d.evidence(q)}
}

func (d *Doctor) host() Diagnosis {
	if d.Project != nil && d.Project.OfMarkdown() {
		return Diagnosis{Name: "host", State: OK, Text: host.Title(d.Project.Profile) + ", which shows the files"}
	}
	p := d.answers()
	one := d.answer(project.AskHost, "none recognised: the generic profile is used", `profile = "NAME" in sitelink.toml`)
	switch doubt := p.Doubt(project.AskHost); {
	case one.State == Off && doubt != "":
		one.State, one.Text = Wrong, "ambiguous: "+doubt
	case one.State == OK && p.Profile != p.Answers[project.AskHost].Value:
		one.Text += ", checked by the profile " + p.Profile
	}
	return one
}

func (d *Doctor) git(ctx context.Context) Diagnosis {
	one := Diagnosis{Name: "git", State: OK}
	major, minor, err := githook.Git{Env: d.Env, Untrusted: true}.Version(ctx)
	switch {
	case errors.Is(err, githook.ErrNoGit):
		one.State, one.Text, one.Command = Off, "not installed: pushes are not checked", "see https://git-scm.com/downloads"
	case err != nil:
		one.State, one.Text, one.Command = Wrong, err.Error(), "git version"
	case major < 2 || major == 2 && minor < 31:
		one.State, one.Text = Wrong, fmt.Sprintf("git %d.%d is too old: sitelink needs 2.31 or newer", major, minor)
		one.Command = "see https://git-scm.com/downloads"
	case d.Repo == nil:
		one.State, one.Text, one.Command = Off, fmt.Sprintf("git %d.%d, but this directory is not in a repository", major, minor), "git init"
	default:
		one.Text = fmt.Sprintf("git %d.%d", major, minor)
	}
	return one
}

func (d *Doctor) hook() Diagnosis {
	one := Diagnosis{Name: "hook", State: OK}
	if d.Repo == nil {
		one.State, one.Text = Off, "not in a git repository"
		return one
	}
	one.Text = HookStatus(d.Hook)
	built := d.Facts.Committed || d.Generator != nil && d.Generator.Builds() || d.cfg() != nil && d.cfg().Hook.Build != ""
	switch {
	case d.Hook.Method != githook.NotInstalled && !d.Hooked:
		one.State, one.Text, one.Command = Off, one.Text+", not this one", "sitelink hook install"
	case d.Hook.Method == githook.NotInstalled:
		one.State, one.Text, one.Command = Off, "pushes are not checked", "sitelink hook install"
		if d.Hook.Manager != "" && !d.Hook.ConfigHooks {
			one.Text += "; hooks belong to " + d.Hook.Manager
		}
	case d.Hook.Method == githook.ByManager && !onPath("sitelink"):
		one.State, one.Text, one.Command = Wrong, one.Text+", and sitelink is not on PATH", "go install github.com/sitelink/sitelink/cmd/sitelink@latest"
	case !built:
		one.State, one.Text, one.Command = Wrong, "no build command is configured, and the docroot is not committed", `build = "..." in [hook] of sitelink.toml`
	case len(d.Repo.StaleTrees()) > 0:
		one.State, one.Text, one.Command = Wrong, "interrupted runs left temporary trees behind", "sitelink hook run"
	}
	return one
}

func (d *Doctor) ci() Diagnosis {
	one := Diagnosis{Name: "ci", State: OK}
	files := d.CIFiles()
	if len(files) == 0 {
		name := "github"
		if used := d.Servers(); len(used) > 0 {
			name = used[0].Name
		}
		one.State, one.Text, one.Command = Off, "no CI checks the site", "sitelink init --ci "+name
		return one
	}
	one.Text = strings.Join(files, ", ")
	return one
}

// endpoints compares the configured endpoints with the templates.
func (d *Doctor) endpoints() Diagnosis {
	one := Diagnosis{Name: "endpoints", State: OK}
	if d.cfg() == nil {
		one.State, one.Text = Off, "not examined: the configuration is wrong"
		return one
	}
	var named []string
	for _, e := range []struct{ what, url string }{{"webmention", d.cfg().Templates.Webmention}, {"pingback", d.cfg().Templates.Pingback}} {
		if e.url != "" {
			named = append(named, e.what+" "+e.url)
		}
	}
	if len(named) == 0 {
		one.State, one.Text, one.Command = Off, "none: other sites cannot notify this one", "[templates] in sitelink.toml"
		return one
	}
	one.Text = strings.Join(named, ", ")
	if d.Generator == nil || d.advertised() {
		return one
	}
	switch clean, err := d.templates(); {
	case err != nil:
		one.State, one.Text, one.Command = Wrong, text.Flatten(err)[0].Error(), "sitelink inject"
	case !clean:
		one.State, one.Text, one.Command = Wrong, one.Text+": the templates do not advertise them", "sitelink inject"
	}
	return one
}

// templates reports whether the templates have the elements.
func (d *Doctor) templates() (clean bool, err error) {
	plan, err := inject.Refresh(d.Project)
	if err != nil {
		return false, err
	}
	defer plan.Close()
	return plan.Clean(), nil
}

// advertised reports whether the home page names all endpoints, even if sitelink did
// not write them.
func (d *Doctor) advertised() bool {
	const most = 1 << 20
	f, err := system.Open(filepath.Join(d.Found.Abs(d.site()), "index.html"))
	if err != nil {
		return false
	}
	defer f.Close()
	page, err := io.ReadAll(io.LimitReader(f, most))
	t := d.cfg().Templates
	return err == nil && bytes.Contains(page, []byte(t.Webmention)) && bytes.Contains(page, []byte(t.Pingback))
}

// watches compares the directories of the site with the system's limit.
func (d *Doctor) watches(limit int) Diagnosis {
	one := Diagnosis{Name: "watch", State: OK}
	dirs := 0
	_ = filepath.WalkDir(d.Found.Abs(d.site()), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs++
		}
		return nil
	})
	one.Text = fmt.Sprintf("%s to watch; the system allows %s", text.Count(dirs, "directory"), text.Thousands(limit))
	if dirs > limit/10*9 { // other programs want some too
		one.State, one.Command = Wrong, fmt.Sprintf("sudo sysctl fs.inotify.max_user_watches=%d", max(524288, 4*dirs))
	}
	return one
}

// onPath reports whether a program is found by its name.
func onPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// ledger reads a ledger that is a file. One in a repository or a database is not
// opened, since doctor needs no network.
func (d *Doctor) ledger(ctx context.Context) Diagnosis {
	one := Diagnosis{Name: "ledger", State: OK}
	if d.Project == nil {
		one.State, one.Text = Off, "not examined: the configuration is wrong"
		return one
	}
	name := notify.LedgerName(d.Project)
	if err := notify.CheckLedger(d.Project, true); err != nil {
		one.State, one.Text, one.Command = Off, err.Error(), "sitelink ledger show --ledger LEDGER"
		if notify.IsFile(name) {
			one.State = Wrong
		}
		return one
	}
	if !notify.IsFile(name) {
		one.Text, one.Command = notify.ShowLedger(d.Project), "sitelink ledger show"
		return one
	}
	if _, err := os.Stat(name); err != nil {
		one.State, one.Text, one.Command = Off, "none: no notices are sent", "sitelink notify"
		if len(d.CIFiles()) > 0 || notify.InCI(d.Getenv) {
			one.Text += "; CI loses a file with the machine"
			one.Command += " --send --ledger " + notify.GitLedger
		}
		return one
	}
	store, err := ledger.OpenFile(name, ledger.FileOptions{ReadOnly: true})
	if err != nil {
		one.State, one.Text, one.Command = Wrong, err.Error(), "sitelink ledger verify"
		return one
	}
	defer store.Close()
	if faults := store.Warnings(); len(faults) > 0 {
		one.State, one.Text, one.Command = Wrong, fmt.Sprintf("%s: %s", name, text.Count(len(faults), "damaged line")), "sitelink ledger verify"
		return one
	}
	snap, err := store.Load(ctx)
	if err != nil {
		one.State, one.Text, one.Command = Wrong, err.Error(), "sitelink ledger verify"
		return one
	}
	open := 0
	for i := range snap.Notices {
		if snap.Notices[i].Open() {
			open++
		}
	}
	one.Text = fmt.Sprintf("%s: %s, %s", name, text.Count(len(snap.Pages), "page"), text.Count(len(snap.Links), "link"))
	if open > 0 {
		one.Text += ", " + text.Count(open, "notice") + " still to be delivered"
		one.Command = "sitelink notify --due --send"
	}
	return one
}

// newerSource returns a source file that was changed after the site was built, ""
// for none.
func (d *Doctor) newerSource(s *site.Site) string {
	if d.Committed {
		return ""
	}
	if name := audit.NewerSource(d.Project, s); name != "" {
		return filepath.ToSlash(d.Found.Show(name))
	}
	return ""
}

// watchLimit is how many directories the system lets a user watch; ok is false
// where there is no such limit.
func watchLimit() (limit int, ok bool) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0, false
	}
	limit, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return limit, err == nil
}
