package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/incoming/export"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Init is one run of sitelink init: what the user asked for, and how to reach
// them.
type Init struct {
	*Survey
	// Servers names the servers to write files for, Hook, Baseline and Mentions choose
	// the other steps.
	Servers                  []Server
	Hook, Baseline, Mentions bool
	// Path is the PATH that the hook keeps.
	Path string
	// DryRun prints what would be done and changes nothing.
	DryRun bool

	// Print writes to standard output.
	Print func(text string) error
	// Ask puts a question to the user; nil means that there is no terminal, and the
	// answer is no.
	Ask func(ctx context.Context, question string) (bool, error)
	// Configure reads the project's configuration, for the endpoints.
	Configure func() (*config.Config, error)
	// Findings checks the built site; it returns an error without one.
	Findings func(ctx context.Context, cfg *config.Config) ([]check.Finding, error)

	record *Record
	cfg    *config.Config // nil if it is wrong
	// findings are those of the built site, unless it has a baseline.
	findings []check.Finding
	// done is what was done, in lines; manual is what the user has to add to files
	// of their own.
	done, manual strings.Builder
}

// Run prints what the survey found, asks about what the flags leave open, and
// writes what was asked for.
func (r *Init) Run(ctx context.Context) error {
	if err := r.openRecord(); err != nil {
		return err
	}
	if err := r.Print(r.found()); err != nil {
		return err
	}
	if err := r.checkSite(ctx); err != nil {
		return err
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	// Without a docroot, a server would check the sources.
	if err := r.Found.CheckDocroot(); err != nil && r.Docroot == "" && (r.Baseline || len(r.Servers) > 0) {
		return err
	}
	err := r.carryOut(ctx)
	if printErr := r.Print(r.done.String()); err == nil {
		err = printErr
	}
	if err == nil {
		r.done.Reset()
		r.nextSteps()
		err = r.Print(r.done.String())
	}
	if printErr := r.Print(r.manual.String()); err == nil {
		err = printErr
	}
	return err
}

func (r *Init) openRecord() (err error) {
	if r.record, err = Open(r.Dir, r.Found.Root); err != nil {
		return text.WithHint(err, "repair the file, or delete it and remove by hand what init wrote")
	}
	return nil
}

// found lists what was found, one item per line.
func (s *Survey) found() string {
	var b strings.Builder
	switch {
	case s.Generator != nil:
		fmt.Fprintf(&b, "found   %s", strings.TrimSpace(s.Title+" "+s.Version))
		if !s.Installed {
			b.WriteString(", not installed here")
		}
		if s.Below != "" {
			fmt.Fprintf(&b, ", in %s of the repository", s.Below)
		}
		fmt.Fprintf(&b, "\nfound   docroot %s (%s)", s.Docroot, s.DocrootBy)
		if s.Committed {
			b.WriteString(", committed to git")
		}
		b.WriteByte('\n')
	case s.Docroot != "":
		fmt.Fprintf(&b, "found   docroot %s, no known generator\n", s.Docroot)
	default:
		b.WriteString("found   no known generator and no built site\n")
	}
	if len(s.BaseURLs) > 0 {
		fmt.Fprintf(&b, "found   base URL %s\n", strings.Join(s.BaseURLs, ", "))
	}
	switch {
	case s.Profile != "":
		fmt.Fprintf(&b, "found   host %s (%s)\n", s.Profile, s.ProfileBy)
	case s.Found.Doubt(project.AskHost) != "":
		fmt.Fprintf(&b, "found   several hosts: %s\n", s.Found.Doubt(project.AskHost))
	}
	if s.Hook.Manager != "" {
		fmt.Fprintf(&b, "found   hooks of %s (%s)\n", s.Hook.Manager, s.Hook.ManagerFile)
	}
	for _, server := range s.Servers() {
		fmt.Fprintf(&b, "found   %s\n", server.Title)
	}
	return b.String()
}

// ask settles what the flags leave open.
func (r *Init) ask(ctx context.Context) (err error) {
	if !r.Hook && r.Repo != nil && !r.Hooked {
		if r.Hook, err = r.yes(ctx, "Check each push before it leaves this machine?"); err != nil {
			return err
		}
	}
	if len(r.findings) > 0 && !r.Baseline {
		question := "Accept these findings in a baseline, so that only new ones are reported?"
		if r.Baseline, err = r.yes(ctx, question); err != nil {
			return err
		}
	}
	if len(r.Servers) == 0 && len(r.CIFiles()) == 0 {
		for _, s := range r.Survey.Servers() {
			advice := s.Advice(&r.Facts)
			question := "Show what to add for " + s.Title + "?"
			if advice.File != nil {
				question = fmt.Sprintf("Write %s, so that %s checks the site?", r.Show(advice.File.Path), s.Title)
			}
			yes, err := r.yes(ctx, question)
			if err != nil {
				return err
			}
			if yes {
				r.Servers = append(r.Servers, s)
			}
		}
	}
	return r.askMentions(ctx)
}

func (r *Init) yes(ctx context.Context, question string) (bool, error) {
	if r.Ask == nil {
		return false, nil
	}
	return r.Ask(ctx, question)
}

// carryOut writes what was asked for. What was done before an error is printed
// too.
func (r *Init) carryOut(ctx context.Context) error {
	if err := r.writeConfig(); err != nil {
		return err
	}
	if r.Baseline {
		if err := r.writeBaseline(); err != nil {
			return err
		}
	}
	for _, s := range r.Servers {
		// The user has to add to a file of their own what sitelink does not write.
		advice := s.Advice(&r.Facts)
		if advice.File != nil {
			if err := r.write(*advice.File); err != nil {
				return err
			}
		}
		if advice.Add != "" {
			fmt.Fprintf(&r.manual, "\nAdd to %s:\n\n%s", advice.Where, indented(advice.Add))
		}
		if s.pushes != "" && (r.Mentions || r.hasEndpoints()) {
			r.add(fmt.Sprintf("To notify the sites that you link to, from the job of %s that deploys, after it (it needs %s)", s.Title, s.pushes),
				"sitelink notify --send --ledger "+notify.GitLedger)
		}
	}
	if r.Mentions {
		// The user has to know where mentions belong, how they are received and how they get
		// into the build.
		data := mentionsData
		switch {
		case r.isHugo():
			for _, f := range []File{{Path: mentionsPartial, Text: export.HugoPartial}, {Path: mentionsScript, Text: export.Script}} {
				if err := r.write(f); err != nil {
					return err
				}
			}
			r.add("Add to the template of a page, where the mentions of other sites belong", `{{ partial "sitelink/mentions.html" . }}`)
		case r.isGoProgram():
			data = "mentions"
			r.add("Add a template mentions.html, and call it where the mentions of a page belong", export.GoTemplate)
			r.add("It takes what export.Read of github.com/sitelink/sitelink/incoming/export returns for the page",
				"mentions, err := export.Read(os.DirFS(\"mentions\"))\npage, _ := export.PageOf(\"https://example.org/post/\") // the address of the page\ndata.Mentions = mentions[page]")
		default:
			r.manual.WriteString("\nMentions are files that your generator reads. sitelink help guide/mentions shows a template.\n")
		}
		origin, _ := r.origin()
		if !r.hasEndpoints() {
			r.add("Tell other sites where they send webmentions and pingbacks: set in the table [templates] of "+ConfigName+", then run sitelink inject",
				"webmention = \""+origin+"/webmention\"\npingback = \""+origin+"/pingback\"")
		}
		site := path.Join(".", r.Site)
		if r.Site == "" {
			site = "public"
		}
		r.add("Receive them on your server, behind your web server (sitelink help receiver has files for nginx, Caddy and systemd)",
			"sitelink serve "+site+" --base-url "+origin+"/")
		r.add("Before each build", "sitelink mentions export --output "+data)
		if r.isHugo() {
			r.add("To show what you approve between two builds, add to the configuration of Hugo",
				"[params.sitelink]\nlive = \""+origin+"/mentions\"")
		}
	}
	if r.Hook {
		state := r.Survey.Hook
		switch {
		case r.Repo == nil:
			return ExplainHook(r.NoRepo)
		case r.Hooked:
			r.say("same    the pre-push hook is installed")
			return nil
		case state.Manager != "" && (!state.ConfigHooks || state.Method == githook.ByManager):
			// Another program manages the hooks. A file of husky that does not exist yet is
			// written; any other belongs to the user.
			snippet := githook.Snippet(state.Manager, append(slices.Clone(state.Sites), path.Clean(r.Below))...)
			name := path.Join(r.toRoot("."), state.ManagerFile)
			if state.Manager == "husky" && !r.rootHas(state.ManagerFile) {
				return r.write(File{Path: name, Text: snippet})
			}
			fmt.Fprintf(&r.manual, "\nHooks belong to %s. Add to %s:\n\n%s", state.Manager, r.Show(name), indented(snippet))
			return nil
		case r.DryRun:
			r.say("would install the pre-push hook")
			return nil
		}
		// An archive can bring core.hooksPath along, and with it where the hook is written.
		dir := filepath.Dir(state.File)
		if _, where := system.Outside(r.Repo.Top, dir); where != "" && !state.ConfigHooks && !within(r.Repo.Common, dir) {
			yes, err := r.yes(ctx, fmt.Sprintf("core.hooksPath leads out of the repository. Write the hook to %s?", dir))
			if err != nil {
				return err
			}
			if !yes {
				return text.WithHint(fmt.Errorf("the hook is not installed: core.hooksPath leads out of the repository, to %s", dir), "sitelink hook install writes it there")
			}
		}
		program, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the path of sitelink: %w", system.Cause(err))
		}
		if err := r.record.SetHook(true); err != nil {
			return err
		}
		if state, err = r.Repo.Install(ctx, githook.InstallOptions{Program: program, Path: r.Path, Site: filepath.FromSlash(r.Below)}); err != nil {
			return errors.Join(ExplainHook(err), r.record.SetHook(false))
		}
		r.say("hooked  %s", HookStatus(state))
		return nil
	}
	return nil
}

// writeConfig writes sitelink.toml, unless the project already has a
// configuration under another name or in a directory above: a second one would
// hide it.
func (r *Init) writeConfig() error {
	r.Facts.Baseline = r.Facts.Baseline || r.Baseline
	if other := r.configuredElsewhere(); other != "" {
		r.say("left    %s: it already configures sitelink", filepath.ToSlash(r.Found.Show(other)))
		return nil
	}
	_, known := r.origin()
	r.Facts.Mentions = known && (r.Mentions || r.hasEndpoints())
	facts := r.Facts
	if r.cfg != nil && r.cfg.Place("profile") != "" {
		facts.Profile = cmp.Or(facts.Profile, r.cfg.Profile)
	}
	if hosts := slices.DeleteFunc(slices.Clone(r.Servers), func(s Server) bool { return s.profile == "" }); len(hosts) == 1 {
		facts.Profile = cmp.Or(facts.Profile, hosts[0].profile)
	}
	file := facts.Config()
	if action, err := r.record.Plan(file); err == nil && action == Foreign {
		r.Facts.Mentions = false // init does not change it
	}
	return r.write(file)
}

// configuredElsewhere returns the configuration under another name or in a
// directory above, or "".
func (r *Init) configuredElsewhere() string {
	for dir := r.Dir; ; dir = filepath.Dir(dir) {
		for _, name := range config.FileNames {
			full := filepath.Join(dir, filepath.FromSlash(name))
			if dir == r.Dir && name == ConfigName {
				continue
			}
			if _, err := os.Lstat(full); err == nil {
				return full
			}
		}
		if dir == r.Found.Root || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// checkSite finds out whether the built site has findings that a baseline could
// accept. That a site is not built, or cannot be checked, matters only if a
// baseline was asked for.
func (r *Init) checkSite(ctx context.Context) error {
	cfg, err := r.Configure()
	r.cfg = cfg
	if err == nil && cfg.Baseline != "" {
		if r.Baseline {
			r.say("same    the baseline %s is configured; sitelink baseline update --add accepts new findings", cfg.Baseline)
		}
		r.Baseline, r.Facts.Baseline = false, cfg.Baseline == baseline.FileName
		return nil
	}
	if err == nil {
		r.findings, err = r.Findings(ctx, cfg)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && r.Baseline:
		return err
	case err != nil:
		return nil
	case len(r.findings) == 0 && r.Baseline:
		r.say("same    no baseline is needed: the site in %s has no findings", r.Site)
		r.Baseline = false
	}
	if len(r.findings) == 0 {
		return nil
	}
	return r.Print(Commands(r.Own, text.Visible(fmt.Sprintf("found   %s in %s; sitelink check lists them", text.Count(len(r.findings), "finding"), r.Site))+"\n"))
}

// writeBaseline writes a baseline that accepts all findings, and says what to add
// to a configuration that belongs to the user.
func (r *Init) writeBaseline() error {
	var list strings.Builder
	if err := baseline.New(r.findings, baseline.Terms{Reason: "before sitelink"}).Write(&list); err != nil {
		return err
	}
	f := File{Path: baseline.FileName, Text: list.String()}
	action, err := r.record.Plan(f)
	switch {
	case err != nil:
		return err
	case r.DryRun && action != Foreign && action != Same:
		r.say("would write %s, which accepts %s", r.Show(f.Path), text.Count(len(r.findings), "finding"))
	default:
		if err := r.write(f); err != nil {
			return err
		}
	}
	if configured, err := r.record.Plan(r.Facts.Config()); err != nil || configured != Foreign && r.configuredElsewhere() == "" {
		return err
	}
	fmt.Fprintf(&r.manual, "\nAdd to [check] of your configuration:\n\n%s", indented(baselineKey))
	return nil
}

// write writes one file and says so.
func (r *Init) write(f File) error {
	do := r.record.Write
	if r.DryRun {
		do = r.record.Plan
	}
	action, err := do(f)
	if err != nil {
		return err
	}
	name := r.Show(f.Path)
	switch action {
	case Same:
		r.say("same    %s", name)
	case Foreign:
		r.say("left    %s: init did not write it, or it was changed", name)
	default:
		word := "wrote  "
		if r.DryRun {
			word = "would write"
		}
		r.say("%s %s", word, name)
		if r.DryRun {
			r.done.WriteString(indented(f.Text))
		}
	}
	return nil
}

// nextSteps says what to type now, and what the user could not be asked about.
func (r *Init) nextSteps() {
	own := cmp.Or(r.Own, "sitelink")
	check := own + " check"
	if r.Usual != "" {
		check += " --build"
	}
	if here := r.Found.Show(r.Dir); here != "." && !strings.HasPrefix(here, "..") { // the configuration is found from there on
		check = "cd " + filepath.ToSlash(here) + " && " + check
	}
	r.say("next    %-28s # are all links good?", check)
	if r.Hook && !r.DryRun {
		r.say("        %-28s # check as a push does", own+" hook run")
	}
	if r.Generator != nil && r.hasEndpoints() {
		r.say("        %-28s # put the link elements of [templates] into the templates", own+" inject")
	}
	if r.ShouldIgnore != "" {
		r.say("        %-28s # %s", Uncommit(r.ShouldIgnore), UncommitAdvice)
	}
	if r.Ask != nil {
		return
	}
	if len(r.findings) > 0 && !r.Baseline {
		r.say("        %-28s # accept %s, report new ones", own+" init --baseline", text.Count(len(r.findings), "old finding"))
	}
	if !r.Hook && r.Repo != nil && !r.Hooked {
		r.say("        %-28s # check each push", own+" init --hook")
	}
	if len(r.Servers) == 0 && len(r.CIFiles()) == 0 {
		for _, s := range r.Survey.Servers() {
			r.say("        %-28s # let %s check the site", own+" init --ci "+s.Name, s.Title)
		}
	}
}

func (r *Init) say(format string, args ...any) {
	r.done.WriteString(Commands(r.Own, text.Visible(fmt.Sprintf(format, args...))) + "\n")
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// Undo removes what init wrote. It reports whether files were left because they
// were changed since.
func (r *Init) Undo(ctx context.Context) (left bool, err error) {
	if err := r.openRecord(); err != nil {
		return false, err
	}
	switch {
	case r.record.Empty():
		r.say("nothing to undo: init wrote nothing in %s", r.Found.Show(r.Dir))
		return false, r.Print(r.done.String())
	}
	hooked := r.record.Hook()
	remove, leave := "removed", "left   "
	if r.DryRun {
		remove, leave = "would remove", "would leave "
	}
	if hooked && !r.DryRun {
		if err := r.removeHook(ctx); err != nil {
			return false, err
		}
	}
	if hooked {
		r.say("%s the pre-push hook", remove)
	}
	removed, kept, err := r.record.Undo(r.DryRun)
	for _, name := range removed {
		r.say("%s %s", remove, r.Show(name))
	}
	for _, name := range kept {
		r.say("%s %s: it was changed; delete it yourself", leave, r.Show(name))
	}
	if printErr := r.Print(r.done.String()); err == nil {
		err = printErr
	}
	return len(kept) > 0 && !r.DryRun, err
}

func (r *Init) removeHook(ctx context.Context) error {
	if r.Repo == nil {
		return ExplainHook(r.NoRepo)
	}
	if _, err := r.Repo.Uninstall(ctx, path.Clean(r.Below)); err != nil {
		return ExplainHook(err)
	}
	if err := r.Repo.RemoveData(ctx); err != nil {
		return ExplainHook(err)
	}
	return r.record.SetHook(false)
}

// ServerNamed returns the server of that name.
func ServerNamed(name string) (Server, bool) {
	i := slices.IndexFunc(servers, func(s Server) bool { return s.Name == name })
	if i < 0 {
		return Server{}, false
	}
	return servers[i], true
}

// within reports whether a path is in a directory, whatever symbolic links say.
func within(dir, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	if top, err := filepath.EvalSymlinks(dir); err == nil {
		dir = top
	}
	return system.Within(real, dir)
}
