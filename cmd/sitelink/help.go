package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/run/setup"
	"github.com/sitelink/sitelink/internal/text"
)

// commandGroups are the headings of "sitelink --help", each with its commands
// in the order in which they are listed.
var commandGroups = []struct {
	title    string
	commands []string
}{
	{"Commands", []string{"check", "watch", "fix", "hook", "deploy"}},
	{"More for a site", []string{"external", "baseline", "links", "explain", "profile", "mv", "verify"}},
	{"More for other sites", []string{"notify", "ledger", "serve", "mentions", "inject"}},
	{"More", []string{"init", "doctor", "lsp", "help", "version", "completion"}},
}

// shortFlags are the flags that "-h" shows, for commands that have more than
// maxShortFlags.
var shortFlags = map[string][]string{
	"check":           {"build", "base-url", "profile", "fail-on", "format", "output", "ignore", "baseline", "from", "config"},
	"watch":           {"all", "format", "base-url", "profile", "ignore", "baseline", "from", "delay", "poll", "config"},
	"external":        {"budget", "status-cache", "only-new", "probe", "archive", "max-age", "pace", "format", "base-url", "config"},
	"fix":             {"write", "likely", "interactive", "only", "check", "since", "undo", "base-url", "profile", "config"},
	"explain":         {"page", "docroot", "base-url", "profile", "index", "map", "source", "config"},
	"links":           {"to", "page", "external", "anchors", "addresses", "sources", "format", "output", "base-url", "config"},
	"mv":              {"write", "undo", "keep-id", "base-url", "profile", "config"},
	"verify":          {"all", "after", "format", "base-url", "profile", "index", "map", "config"},
	"notify":          {"send", "group-by", "due", "status", "record", "explain", "ledger", "base-url", "verbose", "config"},
	"deploy":          {"build", "send", "dry-run", "no-check", "tombstones", "live", "ledger", "max-notices", "base-url", "config"},
	"serve":           {"base-url", "listen", "store", "allow-address", "rate-address", "recheck", "pages", "backup", "verbose", "config"},
	"baseline write":  {"reason", "expires", "force", "docroot", "base-url", "profile", "baseline", "ignore", "config"},
	"baseline update": {"add", "reason", "expires", "docroot", "base-url", "profile", "baseline", "ignore", "config"},
}

// Commands are listed in the order in which they were added.
func init() { cobra.EnableCommandSorting = false }

const (
	maxShortFlags    = 10
	maxShortExamples = 3
	// maxHelpWidth is the longest line of a help text, also on wider terminals:
	// longer lines are hard to read.
	maxHelpWidth = 100
	minHelpWidth = 40
	// maxFlagColumn is how far the texts of flags are indented at most.
	maxFlagColumn = 30
)

// setHelp makes root and its commands print help as [app.help] does.
func (c *cli) setHelp(root *cobra.Command) {
	for _, group := range commandGroups {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, sub := range root.Commands() {
			if slices.Contains(group.commands, sub.Name()) {
				sub.GroupID = group.title
			}
		}
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(c.env.Stdout, help(cmd, c.shortHelp, c.helpWidth()))
	})
}

// asksForShortHelp reports whether the arguments contain -h, which prints less
// than --help.
func asksForShortHelp(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "-h")
}

// helpWidth returns the width of the terminal within limits, or the maximum if
// standard output is no terminal.
func (c *cli) helpWidth() int {
	if f, ok := c.env.Stdout.(*os.File); ok && c.env.StdoutTTY {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return min(max(width, minHelpWidth), maxHelpWidth)
		}
	}
	return maxHelpWidth
}

// help returns the help text of a command: all of it, or the short form that -h
// prints.
func help(cmd *cobra.Command, short bool, width int) string {
	h := &helpText{width: width}
	h.paragraph(cmd.CommandPath()+" - "+cmd.Short, "")
	h.section("Usage")
	if cmd.HasSubCommands() && cmd.Args == nil {
		h.line("  " + cmd.CommandPath() + " COMMAND [flags]")
	} else {
		h.line("  " + cmd.UseLine())
	}
	if cmd.Example != "" {
		h.section("Examples")
		examples := strings.Split(cmd.Example, "\n\n")
		if short {
			examples = examples[:min(len(examples), maxShortExamples)]
		}
		h.line(strings.Join(examples, "\n\n"))
	}
	long, exits := splitLong(cmd)
	if !short && long != "" {
		h.line("")
		h.prose(long)
	}
	h.commands(cmd)
	h.flags(cmd, short)
	if !short && exits != "" {
		h.section("Exit codes")
		h.prose(exits)
	}
	return h.b.String()
}

// helpTexts say what each command does: one text for -h, --help, the manual page and
// the page of the commands in the manual. A section begins with === and the path of the command. It
// has a short text, a long one, examples and exit codes.
//
//go:embed help.txt
var helpTexts string

// describe gives the commands below cmd their texts.
func describe(cmd *cobra.Command) {
	texts := map[string]string{}
	for section := range strings.SplitSeq("\n"+strings.TrimRight(helpTexts, "\n"), "\n=== ") {
		path, text, _ := strings.Cut(section, "\n")
		texts[path] = strings.TrimRight(text, "\n")
	}
	var describe func(*cobra.Command)
	describe = func(c *cobra.Command) {
		if text, ok := texts[strings.TrimPrefix(c.CommandPath(), "sitelink ")]; ok {
			c.Short, text, _ = strings.Cut(text, "\n")
			text, exits, ends := strings.Cut(text, "\n"+exitsTitle)
			c.Long, c.Example, _ = strings.Cut(text, "\nExamples:\n")
			if c.Long, c.Example = strings.Trim(c.Long, "\n"), strings.TrimRight(c.Example, "\n"); ends {
				c.Long += "\n\n" + exitsTitle + exits
			}
		}
		for _, sub := range c.Commands() {
			describe(sub)
		}
	}
	describe(cmd)
}

// exitsTitle begins the section of the exit codes.
const exitsTitle = "Exit codes:\n"

// splitLong returns the long text of a command without the section of the exit
// codes, and the lines of that section.
func splitLong(cmd *cobra.Command) (long, exits string) {
	long, exits, _ = strings.Cut(cmd.Long, exitsTitle)
	return strings.TrimSpace(long), strings.TrimRight(exits, "\n")
}

// helpText is a help text that is being written.
type helpText struct {
	b     strings.Builder
	width int
}

func (h *helpText) line(text string) { h.b.WriteString(text + "\n") }

func (h *helpText) section(title string) { h.line("\n" + title + ":") }

// prose writes text as paragraphs. A line that is indented stays a line of its
// own.
func (h *helpText) prose(text string) {
	var words []string
	end := func() {
		if len(words) > 0 {
			h.paragraph(strings.Join(words, " "), "")
		}
		words = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "":
			end()
			h.line("")
		case line[0] == ' ':
			end()
			// A list: further lines are indented like the text of the item.
			text := strings.TrimLeft(line, " ")
			indent := line[:len(line)-len(text)]
			if term, rest, ok := strings.Cut(text, "  "); ok {
				rest = strings.TrimLeft(rest, " ")
				indent = strings.Repeat(" ", len(line)-len(rest))
				h.item(line[:len(line)-len(text)]+term, rest, len(indent))
			} else {
				h.b.WriteString(indent)
				h.paragraph(text, indent)
			}
		default:
			words = append(words, line)
		}
	}
	end()
}

// paragraph writes text in lines that fit. The first line goes on where the last
// one ended, after indent; the others begin with indent.
func (h *helpText) paragraph(text, indent string) {
	column := len(indent)
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > h.width:
			h.b.WriteString("\n" + indent)
			column = len(indent)
		default:
			h.b.WriteByte(' ')
			column++
		}
		h.b.WriteString(word)
		column += n
	}
	h.b.WriteByte('\n')
}

// item writes a term and its explanation, which begins at a column.
func (h *helpText) item(term, text string, column int) {
	indent := strings.Repeat(" ", column)
	if n := column - utf8.RuneCountInString(term); n >= 1 {
		h.b.WriteString(term + indent[:n])
	} else {
		h.b.WriteString(term + "\n" + indent)
	}
	h.paragraph(text, indent)
}

// commands lists the commands below cmd, those of root in groups.
func (h *helpText) commands(cmd *cobra.Command) {
	byName := map[string]*cobra.Command{}
	var names []string
	column := 0
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			byName[c.Name()] = c
			names = append(names, c.Name())
			column = max(column, len(c.Name())+4)
		}
	}
	list := func(title string, names []string) {
		h.section(title)
		for _, name := range names {
			h.item("  "+name, byName[name].Short, column)
		}
	}
	if !cmd.HasParent() {
		for _, group := range commandGroups {
			list(group.title, group.commands)
		}
	} else if len(names) > 0 {
		list("Commands", names)
	}
}

// flags lists the flags of cmd: its own, then those of the configuration.
func (h *helpText) flags(cmd *cobra.Command, short bool) {
	var own, keys []*pflag.Flag
	collect := func(f *pflag.Flag) {
		if _, isKey := f.Value.(*keyFlag); isKey && !f.Hidden {
			keys = append(keys, f)
		} else if !f.Hidden && f.Name != "help" {
			own = append(own, f)
		}
	}
	all := cmd.Flags()
	all.VisitAll(collect)
	total := len(own) + len(keys)
	if names := shortFlags[strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")]; short && names != nil {
		own, keys = nil, nil
		for _, name := range names {
			if f := all.Lookup(name); f != nil {
				collect(f)
			}
		}
	}
	column := 0
	for _, f := range slices.Concat(own, keys) {
		if n := len(flagTerm(f)) + 2; n <= maxFlagColumn {
			column = max(column, n)
		}
	}
	for _, group := range []struct {
		title string
		flags []*pflag.Flag
	}{{"Flags", own}, {"Configuration flags, also keys of sitelink.toml", keys}} {
		if len(group.flags) == 0 {
			continue
		}
		h.section(group.title)
		for _, f := range group.flags {
			h.item(flagTerm(f), flagUsage(f), column)
		}
	}
	if cmd.HasSubCommands() && cmd.Args == nil {
		h.line("")
		h.paragraph(cmd.CommandPath()+" COMMAND -h shows the most common flags of a command, --help all of them.", "")
	} else if short && len(own)+len(keys) < total {
		h.line("")
		h.paragraph(fmt.Sprintf("%s --help shows all %d flags and explains the command.", cmd.CommandPath(), total), "")
	} else if short {
		h.line("")
		h.paragraph(cmd.CommandPath()+" --help explains the command.", "")
	}
}

// flagTerm is "  -v, --verbose" or "      --fail-on LEVEL".
func flagTerm(f *pflag.Flag) string {
	text := "      --" + f.Name
	if f.Shorthand != "" {
		text = "  -" + f.Shorthand + ", --" + f.Name
	}
	if arg, _ := pflag.UnquoteUsage(f); arg != "" {
		text += " " + arg
	}
	return text
}

// flagUsage is the text of a flag with its default, unless that is nothing.
func flagUsage(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	if slices.Contains([]string{"", "-", "false", "0", "0s", "[]"}, f.DefValue) || strings.Contains(usage, "(default") {
		return usage
	}
	return usage + " (default: " + f.DefValue + ")"
}

// overview is what "sitelink" alone does: in a project it prints what it found
// and what to type next. Elsewhere it prints the short help and returns a usage
// error.
func overview(c *cli, cmd *cobra.Command) error {
	cfg, err := c.configure(cmd, nil)
	if err != nil {
		return err
	}
	c.markdown = true
	p, err := c.findRoot(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	built := p.CheckDocroot() == nil
	_, err = os.Stat(filepath.Join(p.Abs(p.Docroot), "index.html"))
	if p.Generator == nil && cfg.File == "" && !p.OfMarkdown() && (!built || err != nil) {
		fmt.Fprint(c.env.Stderr, help(cmd, true, c.helpWidth())+"\n")
		return text.Usage("no command given, and no project found in this directory", "sitelink check DIR checks a built site")
	}
	d, err := newDoctor(cmd.Context(), c, cfg, nil)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "sitelink found this project in %s:\n\n%s", visible(p.Root), doctorText(d.Overview(cmd.Context())))

	b.WriteString("\nWhat to type next:\n\n")
	next := func(command, text string) { fmt.Fprintf(&b, "  %-28s %s\n", c.ui.commands(command), text) }
	switch builds := p.Generator != nil && p.Generator.Builds(); {
	case p.OfMarkdown():
		next("sitelink check", "check the links of the Markdown")
	case built:
		next("sitelink check", "check the links of "+visible(p.Docroot))
	case builds:
		next("sitelink check --build", "build the site and check it")
	default:
		next("sitelink check DIR", "check the built site in DIR")
	}
	if built {
		next("sitelink watch", "check again whenever a file changes")
	}
	if cfg.File == "" {
		next("sitelink init", "write a configuration, and set up hook and CI")
	} else if d.Repo != nil && d.Hook.Method == githook.NotInstalled {
		next("sitelink hook install", "check every push")
	}
	if d.ShouldIgnore != "" {
		next(visible(setup.Uncommit(d.ShouldIgnore)), setup.UncommitAdvice)
	}
	next("sitelink doctor", "show what is missing or wrong in detail")
	next("sitelink --help", "list all commands")
	return c.print(c.ui.commands(b.String()))
}
