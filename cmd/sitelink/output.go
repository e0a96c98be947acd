package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// The rules of what is printed, and where:
//
//   - Standard output carries the report and nothing else, so that it can be
//     piped, redirected and parsed. Help and versions count as reports when the
//     user asks for them.
//   - Everything else goes to standard error, one line each:
//     "sitelink: error: read docroot public: no such file or directory",
//     "sitelink: hint: build the site first". Lines are in lower case and have no
//     full stop. An error names the object and the cause; a hint says what to type
//     next.
//   - Nothing that a file or an argument contains reaches a terminal unescaped.
//   - Progress is one line on a terminal, for work that takes more than a second,
//     and is erased before anything else is printed.
//   - The exit code says what happened: scripts read neither stream.

// output is the destination of a report.
type output interface {
	io.Writer
	// Prepare does the part of Commit that can fail when the disk is full. Nothing
	// may be written after it. Outputs that belong together are all prepared before
	// the first is committed.
	Prepare() error
	// Commit makes the report visible, prepared or not.
	Commit() error
	// Discard drops the report. It does nothing after Commit.
	Discard()
}

// openOutput opens the output of that name, "" or "-" for standard output.
//
// A file is replaced atomically at Commit: the report is first written and synced
// under another name beside it. A full disk, an error or a crash leaves the old
// file as it was. Devices and pipes, such as /dev/stdout, are written directly.
func (c *cli) openOutput(name string) (output, error) {
	switch name {
	case "", "-", "/dev/stdout": // opening it again would overwrite a file that stdout is appended to
		return &direct{stream: c.stdout()}, nil
	case "/dev/stderr":
		return &direct{stream: stream{name: name, w: c.env.Stderr}}, nil
	}
	target, err := followLinks(name)
	if err != nil {
		return nil, writeFailure(name, err)
	}
	mode := fs.FileMode(0)
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return nil, writeFailure(name, errors.New("is a directory"))
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, writeFailure(name, err)
		}
		return &direct{stream: stream{name: name, w: f}, file: f}, nil
	case err == nil:
		// Renaming would ignore the write protection of the file.
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, writeFailure(name, err)
		}
		f.Close()
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, writeFailure(name, err)
	}
	// mode is the mode of the old file, 0 for a new one.
	r, err := system.NewReplacement(target, mode)
	if err != nil {
		return nil, writeFailure(name, err)
	}
	return &replacement{r, name, target}, nil
}

// followLinks returns the file that symbolic links lead to, even one that does not
// exist yet, so that the links stay and their target is replaced.
func followLinks(name string) (string, error) {
	const most = 40 // what Linux follows
	for range most {
		if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return name, nil
		}
		// Links to pipes in /proc/self/fd lead to names that do not exist.
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return name, nil
		}
		to, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	return "", errors.New("too many symbolic links")
}

// direct is an output that is visible while it is written.
type direct struct {
	stream
	file *os.File // nil for standard output
}

// Prepare does nothing: what was written is visible already.
func (d *direct) Prepare() error { return nil }

func (d *direct) Commit() error {
	if d.file == nil {
		return nil
	}
	f := d.file
	d.file = nil
	return f.Close()
}

func (d *direct) Discard() { d.Commit() } // what was written cannot be taken back

// stream is standard output, or another pipe or device. After the reader has
// closed it, everything written is dropped without an error, and the exit code
// still says what was found.
type stream struct {
	name string // for errors
	w    io.Writer
	gone bool
}

func (c *cli) stdout() stream { return stream{name: "standard output", w: c.env.Stdout} }

func (s *stream) Write(p []byte) (int, error) {
	if s.gone {
		return len(p), nil
	}
	n, err := s.w.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		s.gone = true
		return len(p), nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.name, system.Cause(err))
	}
	return n, err
}

// writeFailure wraps an error of writing to name; nil stays nil.
func writeFailure(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %w", name, system.Cause(err))
}

// print writes text to standard output.
func (c *cli) print(text string) error {
	out := c.stdout()
	if _, err := io.WriteString(&out, text); err != nil {
		return fmt.Errorf("write %w", err)
	}
	return nil
}

// replacement is an output that replaces a file at Commit. Its errors name the file
// as the user does.
type replacement struct {
	*system.Replacement
	name, target string // as the user wrote it, and where it leads
}

func (r *replacement) Write(p []byte) (int, error) {
	n, err := r.Replacement.Write(p)
	if err != nil {
		err = fmt.Errorf("%s: %w", r.name, err)
	}
	return n, err
}

func (r *replacement) Prepare() error { return writeFailure(r.name, r.Replacement.Prepare()) }

func (r *replacement) Commit() error { return writeFailure(r.name, r.Replacement.Commit()) }

// sink is one report that is being written.
type sink struct {
	format report.Format
	out    output
	opt    report.Options
}

// sinks are the reports of one run. They become visible together: if one file
// cannot be written or synced, all old files stay as they were.
type sinks []sink

// openReports opens the reports that the configuration asks for.
func openReports(c *cli, p *project.Project) (sinks, error) {
	cfg := p.Config
	opt, err := reportOptions(c, p)
	if err != nil {
		return nil, err
	}
	var all sinks
	taken := map[string]string{} // file to format
	for _, f := range cfg.Formats {
		format, ok := report.ByName(f.Name)
		if !ok {
			panic("no format is named " + f.Name) // a test compares the key with the table
		}
		name := f.File
		if name == "" {
			name = cfg.Output
		}
		out, err := c.openOutput(name)
		if err != nil {
			all.discard()
			return nil, err
		}
		opt.Color = c.colorsReport(cfg.Color, name)
		all = append(all, sink{format, out, opt})
		// Different names can lead to the same file. The configuration has compared
		// names such as a.txt and ./a.txt; links show up only here.
		if r, ok := out.(*replacement); ok {
			if other, twice := taken[r.target]; twice {
				all.discard()
				return nil, text.Usage(fmt.Sprintf("the formats %s and %s go to the same file, %s", other, f.Name, r.target), "give each its own")
			}
			taken[r.target] = f.Name
		}
	}
	return all, nil
}

// write writes the findings of r to each report.
func (all sinks) write(r *check.Result) error {
	for _, d := range all {
		if err := d.format.Write(d.out, r, d.opt); err != nil {
			return err
		}
	}
	return nil
}

// writeUnlisted writes the findings beyond the limit where a report has room for all. It
// comes last: the others leave the result.
func (all sinks) writeUnlisted(ctx context.Context, run *audit.Audit, r *check.Result) error {
	var to []io.Writer
	var base string
	for _, d := range all {
		if d.format.Name == "jsonl" {
			base = d.opt.Base
			to = append(to, d.out)
		}
	}
	if len(to) == 0 || r.Summary.UnlistedErrors+r.Summary.UnlistedWarnings == 0 {
		return nil
	}
	listed := r.Findings
	r.Findings = nil
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // much stays in memory, and little is allocated
	return run.Unlisted(ctx, io.MultiWriter(to...), listed, func(dst []byte, f *check.Finding) []byte {
		return append(report.AppendFinding(dst, f, base, ""), '\n')
	})
}

// commit makes the reports visible, after every file is complete and synced.
func (all sinks) commit() error {
	for _, d := range all {
		if err := d.out.Prepare(); err != nil {
			return err
		}
	}
	for _, d := range all {
		if err := d.out.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// end makes the reports visible, and prints what the user should know if none of them has
// a summary. It returns [errFindings] when there are findings that fail the run.
func (all sinks) end(c *cli, cfg *config.Config, r *check.Result) error {
	if err := all.commit(); err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(d sink) bool { return d.format.Summary }) {
		// These reports have no summary.
		sum := &r.Summary
		for _, note := range sum.Notes {
			c.ui.note(note)
		}
		for _, rule := range sum.UnusedIgnores {
			c.ui.warning("ignore rule matches nothing: " + rule)
		}
		if b := sum.Baseline; b != nil {
			for _, entry := range b.Unneeded[:min(len(b.Unneeded), report.MaxUnneeded)] {
				c.ui.warning("baseline entry no longer needed: " + entry)
			}
			if rest := len(b.Unneeded) - report.MaxUnneeded; rest > 0 {
				c.ui.warning(fmt.Sprintf("and %s more", thousands(rest)))
			}
		}
	}
	if audit.Fails(cfg.FailOn, r) {
		return errFindings
	}
	return nil
}

// discard drops the reports that are not committed.
func (all sinks) discard() {
	for _, d := range all {
		d.out.Discard()
	}
}

// addExtras works out what a report shows beside the findings, if one of them
// does.
func (all sinks) addExtras(ctx context.Context, run *audit.Audit) error {
	var extras *report.Extras
	for i := range all {
		if !all[i].format.Extras {
			continue
		}
		if extras == nil {
			var err error
			if extras, err = run.Extras(ctx); err != nil {
				return err
			}
		}
		all[i].opt.Extras = *extras
	}
	return nil
}

// setHeader sets what only the format html shows: the address of the site, the date of
// SOURCE_DATE_EPOCH, the lines of files, and where source positions lead.
func setHeader(c *cli, p *project.Project, opt *report.Options) error {
	opt.Root = p.Root
	if len(p.BaseURLs) > 0 {
		opt.BaseURL = p.BaseURLs[0]
	}
	if c.env.Getenv("SOURCE_DATE_EPOCH") != "" {
		day, err := c.today()
		if err != nil {
			return err
		}
		opt.Date = string(day)
	}
	switch to := c.env.Getenv("SITELINK_SOURCE_LINKS"); {
	case to == "none":
	case to == "vscode":
		root := (&url.URL{Path: filepath.ToSlash(p.Root)}).EscapedPath()
		opt.SourceLinks = "vscode://file/" + strings.TrimPrefix(root, "/") + "/{file}:{line}:{column}"
	case sourceLink().MatchString(to):
		opt.SourceLinks = to
	case to != "":
		return text.Usage(fmt.Sprintf("SITELINK_SOURCE_LINKS: %q is not an address of a source line", to),
			"write vscode, none, or an address such as https://git.example/me/site/src/{file}#L{line}")
	default:
		opt.SourceLinks, opt.IsLinked = p.SourceLinks(context.Background())
	}
	return nil
}

// sourceLink matches https://git.example/{file} and the addresses of editors, such as
// idea://open?file=/me/site/{file}&line={line}.
var sourceLink = text.Regexp(`^(?:https?|vscode|vscode-insiders|vscodium|cursor|zed|idea|subl|txmt)://.*\{file\}`)

// showAll lists every link in each report. The site is in memory; only the
// pages are read again for each report.
func showAll(ctx context.Context, c *cli, run *audit.Audit, all sinks) (result *check.Result, err error) {
	for _, d := range all {
		if d.format.Name == "jsonl" {
			result, err = showAllJSON(ctx, c, run, d.out)
		} else {
			result, err = showAllText(ctx, run, d.out, d.opt.TextOptions)
		}
		if err != nil {
			return nil, err
		}
	}
	return result, nil
}

// showAllJSON writes one row for each link and nothing else: faults of files are
// not links.
func showAllJSON(ctx context.Context, c *cli, run *audit.Audit, out output) (*check.Result, error) {
	result, err := run.Links(ctx, out, report.AppendLink)
	if err == nil && len(result.Findings) > 0 {
		c.ui.warning(fmt.Sprintf("faults of files not listed (run without --show all to see them): %s", thousands(len(result.Findings))))
	}
	return result, err
}

// showAllText lists the faults of files after the links and ends with the
// summary.
func showAllText(ctx context.Context, run *audit.Audit, out output, opt report.TextOptions) (*check.Result, error) {
	result, err := run.Links(ctx, out, func(dst []byte, l *check.Link, source *check.Position, _ string) []byte {
		return report.AppendLinkText(dst, l, source, opt)
	})
	if err != nil {
		return nil, err
	}
	var rest []byte
	for i := range result.Findings {
		rest = report.AppendText(rest, &result.Findings[i], opt)
	}
	if _, err := out.Write(append(rest, '\n')); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	counts := check.Result{Summary: result.Summary} // the findings are a part of what it counts
	return result, report.TextSummary(out, &counts, opt)
}
