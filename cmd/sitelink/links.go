package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/docs"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/external"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// linksQuestion is the question that the flags of links ask.
type linksQuestion struct {
	to, page                              string
	external, anchors, addresses, sources bool
	format, output                        string
}

func linksCommand(c *cli) *cobra.Command {
	var q linksQuestion
	cmd := &cobra.Command{
		Use:  "links [DIR]",
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"to", "page", "output", "config"} {
				if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
					return text.Usage(fmt.Sprintf("--%s: the value is empty", name), "")
				}
			}
			if err := q.check(); err != nil {
				return err
			}
			cfg, err := c.configure(cmd, args)
			if err != nil {
				return err
			}
			return runLinks(cmd.Context(), c, cfg, q)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.to, "to", "", "list links to `TARGET`: a page, a URL, or an anchor of one")
	flags.StringVar(&q.page, "page", "", "list the links of `PAGE`, or with --anchors its anchors")
	flags.BoolVar(&q.external, "external", false, "list each address on other sites once, with the number of links to it")
	flags.BoolVar(&q.anchors, "anchors", false, "list the anchors that pages define")
	flags.BoolVar(&q.addresses, "addresses", false, "list the paths that the host answers, and the file for each")
	flags.BoolVar(&q.sources, "sources", false, "also say where each link is written in the sources; on by default with --to and --page")
	addWordFlag(cmd, &q.format, "format", "print the answer as `FORMAT`: text, jsonl, csv or dot", "text", "jsonl", "csv", "dot")
	flags.StringVar(&q.output, "output", "-", "write the answer to `FILE`, replacing it atomically; - means standard output")
	addConfigFlag(cmd)
	addSiteKeyFlags(cmd)
	return cmd
}

// check refuses questions that cannot be combined.
func (q *linksQuestion) check() error {
	var lists []string
	for _, l := range []struct {
		name string
		on   bool
	}{{"--external", q.external}, {"--anchors", q.anchors}, {"--addresses", q.addresses}} {
		if l.on {
			lists = append(lists, l.name)
		}
	}
	switch {
	case len(lists) > 1:
		return text.Usage(strings.Join(lists, " and ")+" cannot be combined", "run links once for each")
	case q.sources && (q.format == "dot" || len(lists) > 0 && (!q.external || q.to == "" && q.page == "")):
		return text.Usage("--sources is about links, which this answer does not list", "leave it out, or ask for links in another format")
	case len(lists) == 0 || q.external && q.format == "dot":
		return nil
	case q.format == "dot":
		return text.Usage(lists[0]+" has no picture: dot shows links", "use --format jsonl or csv")
	case q.to != "" && !q.external:
		return text.Usage("--to and "+lists[0]+" cannot be combined", "remove one of them")
	case q.page != "" && !q.anchors && !q.external:
		return text.Usage("--page and "+lists[0]+" cannot be combined", "remove one of them")
	}
	return nil
}

// runLinks does the work of `sitelink links`.
func runLinks(ctx context.Context, c *cli, cfg *config.Config, q linksQuestion) error {
	run, err := c.load(ctx, cfg)
	if err != nil {
		return err
	}
	out, err := c.openOutput(q.output)
	if err != nil {
		return err
	}
	defer out.Discard()
	ask := linksAnswer{cli: c, run: run, site: run.Site, q: q, out: out, opt: audit.CheckOptions(run.Project)}
	ask.opt.From, ask.opt.Skip, ask.opt.Limit = nil, nil, 0 // questions are about the whole site
	ask.opt.Orphans, ask.opt.More = false, nil              // and about links
	if err := ask.write(ctx); err != nil {
		return err
	}
	return out.Commit()
}

// linksAnswer writes the answer to one question.
type linksAnswer struct {
	cli  *cli
	run  *audit.Audit
	site *site.Site
	q    linksQuestion
	opt  check.Options
	out  io.Writer
	buf  []byte // of a list, until it is written
}

func (l *linksAnswer) write(ctx context.Context) error {
	switch {
	case l.q.anchors:
		return l.anchors(ctx)
	case l.q.addresses:
		return l.addresses(ctx)
	case l.q.external && l.q.to == "" && l.q.page == "" && l.q.format != "dot":
		all, err := check.ExternalTargets(ctx, audit.Handle(l.site), l.opt)
		if err != nil {
			return err
		}
		text := func(dst []byte, x *check.ExternalTarget) []byte {
			to := x.Target
			if x.Fragment != "" {
				to += "#" + x.Fragment
			}
			return fmt.Appendf(dst, "%s: %s from %s, first at %s:%d:%d\n", visible(to), count(x.Links, "link"), count(x.Pages, "page"),
				visible(x.Page), x.Line, x.Column)
		}
		return writeList(l, len(all), func(i int) report.Row { return report.ExternalRow(l.site.BaseURL(), &all[i]) },
			func(dst []byte, i int) []byte { return text(dst, &all[i]) }, report.ExternalRow("", &check.ExternalTarget{}))
	}
	return l.rows(ctx)
}

// rows writes links.
func (l *linksAnswer) rows(ctx context.Context) error {
	var render func(dst []byte, link *check.Link, source *check.Position) []byte
	begin, end := "", ""
	switch l.q.format {
	case "jsonl":
		render = func(dst []byte, link *check.Link, source *check.Position) []byte {
			return report.AppendLink(dst, link, source, "")
		}
	case "csv":
		row := func(link *check.Link, source *check.Position) report.Row {
			if l.q.sources {
				return report.PlacedLinkRow(link, source)
			}
			return report.LinkRow(link)
		}
		begin = string(row(&check.Link{}, nil).AppendCSVHeader(nil))
		render = func(dst []byte, link *check.Link, source *check.Position) []byte {
			return row(link, source).AppendCSV(dst)
		}
	case "dot":
		begin, end = report.DotBegin, report.DotEnd
		// External addresses are shown only on request: most sites have more of them
		// than pages.
		away := l.q.external || l.q.to != "" || l.q.page != ""
		render = func(dst []byte, link *check.Link, _ *check.Position) []byte {
			file := link.AnsweringFile(audit.Handle(l.site))
			if file == "" && link.Verdict == check.Unchecked && !away {
				return dst
			}
			return report.AppendDot(dst, link, file)
		}
	default:
		opt := textOptions(l.run.Project)
		render = func(dst []byte, link *check.Link, source *check.Position) []byte {
			return report.AppendLinkText(dst, link, source, opt)
		}
	}
	if err := l.print(begin); err != nil {
		return err
	}
	query := check.Query{From: l.q.page, To: l.q.to, External: l.q.external}
	result, err := l.writeRows(ctx, query, render)
	if err != nil {
		return unanswered(err)
	}
	for _, f := range result.Findings {
		if f.Code != check.Changed && f.Code != check.ReadError {
			continue // a fault of a file; its links are listed
		}
		l.cli.ui.warning(fmt.Sprintf("%s: %s", f.Page, f.Message))
	}
	return l.print(end)
}

// writeRows writes the links that a query selects. Those of one page or to one
// target have their positions in the sources. For all links of a site that takes
// longer and needs memory for each, so it is on request.
func (l *linksAnswer) writeRows(ctx context.Context, q check.Query, render func([]byte, *check.Link, *check.Position) []byte) (*check.Result, error) {
	if !l.q.sources && (q.From == "" && q.To == "" || l.q.format == "csv") || l.q.format == "dot" {
		return check.WriteLinks(ctx, audit.Handle(l.site), l.opt, q, check.LinkWriter{W: l.out, Append: func(dst []byte, link *check.Link) []byte {
			return render(dst, link, nil)
		}})
	}
	var links []check.Link
	result, err := check.Links(ctx, audit.Handle(l.site), l.opt, q, func(link *check.Link) error {
		links = append(links, *link)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if q.To != "" && len(links) == 0 {
		l.cli.ui.note(fmt.Sprintf("no link leads to %s; sitelink explain %[1]s shows what the host answers", visible(q.To)))
	}
	places, err := l.run.PlaceLinks(ctx, links)
	if err != nil {
		return nil, err
	}
	var row []byte
	for i := range links {
		row = render(row[:0], &links[i], places[i])
		if err := l.print(string(row)); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// unanswered turns the error of a name that matches nothing into wrong usage.
func unanswered(err error) error {
	if errors.Is(err, check.ErrNotFound) {
		return text.Usage(err.Error(), "name a path in the docroot, a site path or a URL")
	}
	return err
}

func (l *linksAnswer) addresses(ctx context.Context) error {
	all, err := check.Addresses(ctx, audit.Handle(l.site))
	if err != nil {
		return err
	}
	text := func(dst []byte, i int) []byte {
		x := &all[i]
		dst = fmt.Appendf(dst, "%s -> %s", visible(x.Path), visible(x.File))
		if x.Final != "" {
			dst = fmt.Appendf(dst, ", redirected to %s", visible(x.Final))
		}
		return append(dst, '\n')
	}
	row := func(x check.Address) report.Row {
		if l.site.Rooted() { // each part of the docroot is a site of its own
			return publicAddress(l.site, x)
		}
		return report.AddressRow(l.site.BaseURL(), l.site.Authority(), l.site.BasePath()+"/", x)
	}
	return writeList(l, len(all), func(i int) report.Row { return row(all[i]) }, text, row(check.Address{}))
}

func (l *linksAnswer) anchors(ctx context.Context) error {
	l.begin(report.AnchorRow("", check.Anchor{}))
	err := check.Anchors(ctx, audit.Handle(l.site), l.opt, l.q.page, func(x check.Anchor) error {
		return l.add(func() report.Row { return report.AnchorRow(l.site.BaseURL(), x) }, func(dst []byte) []byte {
			dst = append(append(append(dst, visible(x.Page)...), '#'), visible(x.Name)...)
			if x.Kind == "map" {
				dst = append(dst, " (map)"...)
			}
			return append(dst, '\n')
		})
	})
	if err != nil {
		return unanswered(err)
	}
	return l.flush()
}

// writeList writes n rows that are in memory.
func writeList(l *linksAnswer, n int, row func(i int) report.Row, text func(dst []byte, i int) []byte, sample report.Row) error {
	l.begin(sample)
	for i := range n {
		if err := l.add(func() report.Row { return row(i) }, func(dst []byte) []byte { return text(dst, i) }); err != nil {
			return err
		}
	}
	return l.flush()
}

// begin begins a list of rows with the fields of sample.
func (l *linksAnswer) begin(sample report.Row) {
	if l.q.format == "csv" {
		l.buf = sample.AppendCSVHeader(l.buf)
	}
}

// add writes a row, which text has as a line.
func (l *linksAnswer) add(row func() report.Row, line func(dst []byte) []byte) error {
	switch l.q.format {
	case "jsonl":
		l.buf = row().AppendJSON(l.buf)
	case "csv":
		l.buf = row().AppendCSV(l.buf)
	default:
		l.buf = line(l.buf)
	}
	if len(l.buf) < 64<<10 {
		return nil
	}
	return l.flush()
}

func (l *linksAnswer) flush() error {
	err := l.print(string(l.buf))
	l.buf = l.buf[:0]
	return err
}

func (l *linksAnswer) print(text string) error {
	if text == "" {
		return nil
	}
	if _, err := io.WriteString(l.out, text); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// publicAddress returns the row of an address as its host has it, for a docroot
// with parts on different hosts.
func publicAddress(s *site.Site, x check.Address) report.Row {
	origin, path := s.Public(x.Path)
	// The part of the docroot that the path belongs to has the address.
	best := "/"
	for _, r := range s.Roots() {
		dir := "/" + strings.Trim(r.Dir, "/")
		if rest, ok := strings.CutPrefix(x.Path, dir); ok && (rest == "" || rest[0] == '/') && len(dir) > len(best) {
			best = dir
		}
	}
	_, base := s.Public(best)
	_, host, _ := strings.Cut(origin, "://")
	if strings.HasPrefix(x.Final, "/") {
		if to, final := s.Public(x.Final); to == origin {
			x.Final = final
		} else {
			x.Final = to + final
		}
	}
	x.Path = path
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	url := ""
	if origin != "" {
		url = origin + base
	}
	return report.AddressRow(url, host, base, x)
}

func explainCommand(c *cli) *cobra.Command {
	var page string
	cmd := &cobra.Command{
		Use: "explain LINK|PLACE|CODE [DIR | URL]",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return text.Usage(fmt.Sprintf("explain takes one link, got %d", len(args)), "name a link, a place such as content/a.md:8, or a code; quote a link that contains spaces or #")
			}
			if args[0] == "" {
				return text.Usage("the link is empty: it leads to the page that has it", "the page itself: sitelink explain '#' --page PAGE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.configure(cmd, args[1:])
			if err != nil {
				return err
			}
			return runExplain(cmd.Context(), c, cfg, page, args[0])
		},
	}
	addKeyFlags(cmd, notForExplain...)
	addConfigFlag(cmd)
	cmd.Flags().StringVar(&page, "page", "", "resolve LINK as a link of `PAGE`, a path below the docroot or an address")
	return cmd
}

// notForExplain are the keys that choose pages or shape a report: explain has
// one page and no report.
var notForExplain = []string{"from", "skip", "limit", "orphans", "fail-on", "format", "group-by", "all", "show", "output", "color", "progress"}

// runExplain does the work of `sitelink explain`. It returns [errFindings] when
// a link is broken.
func runExplain(ctx context.Context, c *cli, cfg *config.Config, page, link string) error {
	if i := slices.IndexFunc(docs.Codes(), func(code docs.Code) bool { return code.Name == link }); i >= 0 {
		return c.print(docs.Codes()[i].String())
	}
	p, err := c.find(ctx, cfg)
	if err != nil {
		return err
	}
	is := reported(p, link)
	if is == nil && p.Server != "" {
		askFor(p.Config, page, link)
	}
	opt, done := c.loading(p)
	opt.Sources = is != nil
	run, err := audit.Open(ctx, p, opt)
	done()
	if err != nil {
		return err
	}
	defer run.Close()
	links := []check.Finding{{Page: page, Raw: link}}
	if is != nil && page == "" {
		// Each link of a page counts once.
		result, err := run.Check(ctx)
		if err != nil {
			return err
		}
		causes, fingerprints := report.CauseIDs(result.Findings), check.Fingerprints(result.Findings)
		var found []check.Finding
		for i := range result.Findings {
			f := &result.Findings[i]
			same := func(other check.Finding) bool {
				return other.Raw == f.Raw && (other.Target == f.Target || other.Page == f.Page)
			}
			if is(f, causes[i], fingerprints[i]) && !slices.ContainsFunc(found, same) {
				found = append(found, *f)
			}
		}
		if links = found; len(links) == 0 {
			return text.Usage("check reports nothing at "+link, "name the link itself: sitelink explain LINK --page PAGE")
		}
	}
	broken := false
	for i, f := range links {
		if i > 0 {
			if err := c.print("\n"); err != nil {
				return err
			}
		}
		if f.Raw == "" { // about a page or a rule
			text, _ := report.DescribeCode(f.Code)
			if err := c.print(fmt.Sprintf("%s %s: %s\n%s\n", f.Verdict, f.Code, f.Message, text)); err != nil {
				return err
			}
			broken = broken || f.Verdict == check.Error
			continue
		}
		e, err := check.Explain(ctx, audit.Handle(run.Site), audit.CheckOptions(run.Project), f.Page, f.Raw)
		if errors.Is(err, check.ErrNotFound) {
			return text.Usage("--page: "+err.Error(), "name it by its path below the docroot, such as blog/index.html")
		}
		if err != nil {
			return err
		}
		places, err := run.PlaceOccurrences(ctx, e.Page, e.Occurrences)
		if err != nil {
			return err
		}
		known := ""
		if e.Link.Code == check.External {
			records, err := external.Records(ctx, run.Project, c.ui.warning)
			if err != nil {
				return err
			}
			known = c.ui.commands(external.Explain(records, e.Link.Target))
		}
		if err := c.print(explanation(run.Project, e, f.Raw, places) + known); err != nil {
			return err
		}
		if u, err := weburl.Parse(f.Raw); err == nil && e.Link.Verdict == check.Unchecked && host.IsLocal([]byte(u.Host())) {
			c.ui.note(fmt.Sprintf("what a running site answers: sitelink explain %s %s://%s/", f.Raw, u.Scheme(), u.Authority()))
		}
		broken = broken || e.Link.Verdict == check.Error && e.Ignored == ""
	}
	if broken {
		return errFindings
	}
	return nil
}

var (
	placeInReport = text.Regexp(`^(.+?):(\d+)(?::(\d+))?$`)
	idInReport    = text.Regexp(`^[0-9a-f]{16}(?:[0-9a-f]{16})?$`)
)

// reported returns which findings of a report a text names, nil if it is a link. A place may
// be as text names it, or as other formats do, from the root.
func reported(p *project.Project, text string) func(f *check.Finding, cause, fingerprint string) bool {
	if idInReport().MatchString(text) {
		return func(_ *check.Finding, cause, fingerprint string) bool { return text == cause || text == fingerprint }
	}
	m := placeInReport().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	file, built := m[1], textOptions(p)
	if !weburl.IsWeb(text) {
		file = filepath.Clean(file)
		_, err := os.Stat(file)
		if _, fromRoot := os.Stat(filepath.Join(p.Root, file)); err != nil && fromRoot != nil {
			return nil // such as localhost:8080
		}
	} else if p.Server == "" {
		return nil
	}
	return func(f *check.Finding, _, _ string) bool {
		at := func(name string, line, column int) bool {
			return (name == p.FromRoot(file) || name == filepath.ToSlash(file)) && strconv.Itoa(line) == m[2] && (m[3] == "" || strconv.Itoa(column) == m[3])
		}
		return f.Source != nil && at(f.Source.File, f.Source.Line, f.Source.Column) || at(path.Join(p.FromRoot(p.Docroot), f.Page), f.Line, f.Column) || at(built.Page(f.Page), f.Line, f.Column)
	}
}

// explanation returns what the command prints. places are where the occurrences
// are written in the sources.
func explanation(project *project.Project, e *check.Explanation, link string, places []audit.Place) string {
	var b strings.Builder
	opt := textOptions(project)
	fmt.Fprintf(&b, "%s\n", link)
	b.WriteString(e.String())
	l := &e.Link
	verdict := l.Verdict.String()
	if l.Code != "" {
		verdict += " " + string(l.Code)
	}
	if l.Message != "" {
		verdict += ": " + l.Message
	}
	fmt.Fprintf(&b, "%s\n", verdict)
	if e.Suggestion != "" {
		fmt.Fprintf(&b, "did you mean %s?\n", e.Suggestion)
	}
	if e.Ignored != "" {
		fmt.Fprintf(&b, "accepted by %s\n", e.Ignored)
	}
	for i, p := range e.Occurrences {
		fmt.Fprintf(&b, "at %s:%d:%d\n", opt.Page(e.Page), p.Line, p.Column)
		place := places[i]
		switch s := place.At; {
		case s != nil:
			fmt.Fprintf(&b, "  written at %s:%d:%d", visible(opt.Source(s.File)), s.Line, s.Column)
			if words := report.DescribeSource(s); words != "" {
				fmt.Fprintf(&b, ", in %s", words)
			}
			fmt.Fprintf(&b, "\n  by the rule %q, which found %s\n", place.Rule, visible(place.Source))
		case place.Rule != "":
			fmt.Fprintf(&b, "  no place is certain by the rule %q, which found %s\n", place.Rule, visible(place.Source))
		}
	}
	return b.String()
}

func profileCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "profile [NAME]",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return text.Usage(fmt.Sprintf("profile takes one name, got %d", len(args)), "")
			}
			return nil
		},
		ValidArgs: profileNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := strings.Join(profileNames(), "\n") + "\n"
			if len(args) == 1 {
				p, ok := host.ProfileByName(args[0])
				if !ok {
					return text.Usage(fmt.Sprintf("unknown profile %q", args[0]),
						cmp.Or(config.DidYouMean(args[0], profileNames()), "sitelink profile lists the profiles"))
				}
				given = p.Describe()
			}
			return c.print(given)
		},
	}
}

// hostKeys are the keys of the table [host].
func hostKeys() []config.HostKey {
	var keys []config.HostKey
	for _, k := range host.ProfileKeys() {
		keys = append(keys, config.HostKey{Name: k.Name, Type: k.Type, Check: func(values []string) error {
			var p host.Profile
			return p.Set(k.Name, values)
		}})
	}
	return keys
}
