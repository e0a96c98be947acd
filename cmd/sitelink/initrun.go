package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/setup"
)

// initRun is one `sitelink init` at work.
type initRun struct {
	*app
	*surroundings
	flags  initFlags
	record *setup.Record
	cfg    *config.Config // nil if it is wrong
	answer *bufio.Reader  // nil asks nothing
	// said is what goes to standard output at the end; then is text for files of
	// others.
	said, then strings.Builder
}

// init does the work of `sitelink init`.
func (a *app) init(ctx context.Context, flags initFlags, configure func() (*config.Config, error)) error {
	around, record, err := a.openRecord(ctx)
	if err != nil {
		return err
	}
	r := &initRun{app: a, surroundings: around, flags: flags, record: record}
	if !flags.yes && !flags.dryRun && a.env.StdinTTY && a.env.StderrTTY {
		r.answer = bufio.NewReader(a.env.Stdin)
	}
	if err := a.print(around.findings()); err != nil {
		return err
	}
	withHook, err := r.wantsHook(ctx)
	if err != nil {
		return err
	}
	servers, err := r.wantedServers(ctx)
	if err != nil {
		return err
	}
	withInject, err := r.wantsInject(ctx, configure)
	if err != nil {
		return err
	}
	err = r.carryOut(ctx, withHook, servers)
	if printErr := a.print(r.said.String()); err == nil {
		err = printErr
	}
	if err == nil && withInject {
		err = r.injectStep()
	}
	if err == nil {
		r.said.Reset()
		r.next(withHook, servers)
		err = a.print(r.said.String())
	}
	if printErr := a.print(r.then.String()); err == nil {
		err = printErr
	}
	return err
}

// carryOut does what was asked for. What was done before an error is said too.
func (r *initRun) carryOut(ctx context.Context, withHook bool, servers []setup.Server) error {
	if err := r.configuration(); err != nil {
		return err
	}
	for _, s := range servers {
		if err := r.server(s); err != nil {
			return err
		}
	}
	if withHook {
		return r.hook(ctx)
	}
	return nil
}

// findings says what was found, a line each.
func (s *surroundings) findings() string {
	var b strings.Builder
	p := &s.project
	switch {
	case s.gen != nil:
		fmt.Fprintf(&b, "found   %s", strings.TrimSpace(p.Title+" "+p.Version))
		if p.Version == "" {
			b.WriteString(", not installed here")
		}
		if p.Below != "" {
			fmt.Fprintf(&b, ", in %s of the repository", p.Below)
		}
		fmt.Fprintf(&b, "\nfound   docroot %s (%s)\n", p.Docroot, p.DocrootBy)
	case p.Docroot != "":
		fmt.Fprintf(&b, "found   docroot %s, and no generator that is known\n", p.Docroot)
	default:
		b.WriteString("found   no generator that is known, and no site\n")
	}
	if len(p.BaseURLs) > 0 {
		fmt.Fprintf(&b, "found   base URL %s\n", strings.Join(p.BaseURLs, ", "))
	}
	switch {
	case p.Profile != "":
		fmt.Fprintf(&b, "found   host %s (%s)\n", p.Profile, p.ProfileBy)
	case s.hostUnclear != "":
		fmt.Fprintf(&b, "found   no clear host: %s\n", s.hostUnclear)
	}
	if s.state.Manager != "" {
		fmt.Fprintf(&b, "found   hooks of %s (%s)\n", s.state.Manager, s.state.ManagerFile)
	}
	for _, server := range s.servers() {
		fmt.Fprintf(&b, "found   %s\n", server.Title)
	}
	return b.String()
}

// configuration writes sitelink.toml, unless the project has a configuration, by
// another name or from a directory above: a second one would hide it.
func (r *initRun) configuration() error {
	for dir := r.dir; ; dir = filepath.Dir(dir) {
		for _, name := range config.FileNames {
			full := filepath.Join(dir, filepath.FromSlash(name))
			if dir == r.dir && name == setup.ConfigName {
				continue
			}
			if _, err := os.Lstat(full); err == nil {
				r.say("left    %s: it is the configuration", filepath.ToSlash(fromHere(full)))
				return nil
			}
		}
		if dir == r.root || dir == filepath.Dir(dir) {
			return r.write(r.project.Config())
		}
	}
}

// server writes what a server needs, and keeps what must be put into a file of
// somebody else for the end.
func (r *initRun) server(s setup.Server) error {
	advice := s.Advice(&r.project)
	if advice.File != nil {
		if err := r.write(*advice.File); err != nil {
			return err
		}
	}
	if advice.Add != "" {
		fmt.Fprintf(&r.then, "\nAdd to %s:\n\n%s", advice.Where, indented(advice.Add))
	}
	return nil
}

// write writes one file and says so.
func (r *initRun) write(f setup.File) error {
	do := r.record.Write
	if r.flags.dryRun {
		do = r.record.Plan
	}
	action, err := do(f)
	if err != nil {
		return err
	}
	name := r.shown(f.Path)
	switch action {
	case setup.Same:
		r.say("same    %s", name)
	case setup.Foreign:
		r.say("left    %s: init did not write it, or it was changed since", name)
	default:
		word := "wrote  "
		if r.flags.dryRun {
			word = "would write"
		}
		r.say("%s %s", word, name)
		if r.flags.dryRun {
			r.said.WriteString(indented(f.Text))
		}
	}
	return nil
}

// hook installs the hook before a push, or says what to add for the program that
// manages the hooks.
func (r *initRun) hook(ctx context.Context) error {
	switch {
	case r.repo == nil:
		return explainHook(r.noRepo)
	case r.state.Method != githook.NotInstalled:
		r.say("same    the hook before a push is installed")
		return nil
	case r.state.Manager != "" && !r.state.ConfigHooks:
		return r.managedHook()
	case r.flags.dryRun:
		r.say("would install the hook before a push")
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the path of sitelink: %w", disk.Cause(err))
	}
	if err := r.record.SetHook(true); err != nil {
		return err
	}
	state, err := r.repo.Install(ctx, githook.InstallOptions{Program: program, Site: filepath.FromSlash(r.project.Below)})
	if err != nil {
		return errors.Join(explainHook(err), r.record.SetHook(false))
	}
	r.say("hooked  %s", strings.TrimSuffix(installed(state), "\n"))
	return nil
}

// managedHook gives the program that manages the hooks what it needs: a file of
// husky's that is not there yet is written, any other is somebody's own.
func (r *initRun) managedHook() error {
	snippet := githook.Snippet(r.state.Manager)
	if r.project.Below != "" {
		snippet = strings.NewReplacer("sitelink hook run pre-push", "sitelink hook run pre-push --dir "+r.project.Below,
			"- id: sitelink\n", "- id: sitelink\n        args: [--dir, "+r.project.Below+"]\n").Replace(snippet)
	}
	name := path.Join(upTo(r.project.Below), r.state.ManagerFile)
	if r.state.Manager == "husky" && !r.rootHas(r.state.ManagerFile) {
		return r.write(setup.File{Path: name, Text: snippet})
	}
	fmt.Fprintf(&r.then, "\nHooks belong to %s. Add to %s:\n\n%s", r.state.Manager, r.shown(name), indented(snippet))
	return nil
}

// upTo is the way from a directory below the root to the root.
func upTo(below string) string {
	if below == "" {
		return "."
	}
	return strings.TrimSuffix(strings.Repeat("../", strings.Count(below, "/")+1), "/")
}

// next says what to type now, and what was not offered since nobody could be
// asked.
func (r *initRun) next(withHook bool, servers []setup.Server) {
	check := "sitelink check"
	if r.project.Usual != "" && !r.project.Committed {
		check = "sitelink build"
	}
	if here := fromHere(r.dir); here != "." && !strings.HasPrefix(here, "..") { // its configuration is found from there on
		check = "cd " + filepath.ToSlash(here) + " && " + check
	}
	r.say("next    %-28s # is every link good?", check)
	if withHook && !r.flags.dryRun {
		r.say("        %-28s # what a push will do", "sitelink hook run")
	}
	if r.answer != nil {
		return
	}
	if !withHook && r.repo != nil && r.state.Method == githook.NotInstalled {
		r.say("        %-28s # check each push", "sitelink init --hook")
	}
	if len(servers) == 0 && len(r.runsIn()) == 0 {
		for _, s := range r.servers() {
			r.say("        %-28s # let %s check the site", "sitelink init --ci "+s.Name, s.Title)
		}
	}
}

func (r *initRun) say(format string, args ...any) {
	r.said.WriteString(visible(fmt.Sprintf(format, args...)) + "\n")
}

// indented sets text apart.
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

// openRecord looks around, and opens the record of what init wrote there.
func (a *app) openRecord(ctx context.Context) (*surroundings, *setup.Record, error) {
	around, err := a.lookAround(ctx)
	if err != nil {
		return nil, nil, err
	}
	record, err := setup.Open(around.dir, around.root)
	if err != nil {
		return nil, nil, explainRecord(err)
	}
	return around, record, nil
}
