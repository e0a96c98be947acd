package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/export"
	"github.com/sitelink/sitelink/incoming/moderation"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/receive"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing"
)

func mentionsCommand(c *cli) *cobra.Command {
	return withCommands(&cobra.Command{
		Use: "mentions",
	}, mentionsListCommand(c), mentionsShowCommand(c), mentionsDecideCommand(c, "approve"), mentionsDecideCommand(c, "deny"),
		mentionsRuleCommand(c, "block"), mentionsRuleCommand(c, "unblock"), mentionsExportCommand(c), mentionsImportCommand(c), mentionsLoginCommand(c))
}

// mentionsSub makes a subcommand that works on the store of the configuration.
func mentionsSub(c *cli, cmd *cobra.Command, work func(ctx context.Context, p *project.Project, store incoming.Store, args []string) error) *cobra.Command {
	cmd.RunE = c.onProject(func(ctx context.Context, p *project.Project, args []string) error {
		store, err := receive.OpenStore(ctx, p, receive.StoreOptions{MustExist: true})
		if err != nil {
			return err
		}
		err = work(ctx, p, store, args)
		if closed := store.Close(); err == nil {
			err = closed
		}
		return err
	})
	addFlags(cmd, config.TableKeys("incoming", "store"))
	addConfigFlag(cmd)
	return cmd
}

// stateWords are the values of --state.
func stateWords() []string {
	words := []string{"waiting", "all"}
	for _, s := range incoming.States {
		words = append(words, string(s))
	}
	return words
}

func mentionsListCommand(c *cli) *cobra.Command {
	var state, format, site string
	cmd := &cobra.Command{
		Use: "list", Args: noArguments,
	}
	mentionsSub(c, cmd, func(ctx context.Context, _ *project.Project, store incoming.Store, _ []string) error {
		filter := incoming.Filter{Source: site}
		switch state {
		case "waiting":
			filter.States = []incoming.State{incoming.Held, incoming.Queued}
		case "all":
		default:
			filter.States = []incoming.State{incoming.State(state)}
		}
		if format == "json" {
			// The mentions are a JSON array, one on a line.
			stdout := c.stdout()
			out := bufio.NewWriter(&stdout)
			fmt.Fprint(out, "[")
			n := 0
			for m, err := range store.List(ctx, filter) {
				if err != nil {
					return err
				}
				row, err := json.Marshal(m)
				if err != nil {
					return err
				}
				separator := ",\n"
				if n == 0 {
					separator = "\n"
				}
				n++
				fmt.Fprint(out, separator, string(text.EscapeHidden(row)))
			}
			if n > 0 {
				fmt.Fprintln(out)
			}
			fmt.Fprintln(out, "]")
			return out.Flush()
		}
		// As text, the mentions are followed by the number of all.
		stdout := c.stdout()
		out := bufio.NewWriter(&stdout)
		target := ""
		for m, err := range store.List(ctx, filter) {
			if err != nil {
				return err
			}
			if m.Local() != target {
				target = m.Local()
				fmt.Fprintln(out, visible(target))
			}
			for _, line := range mentionLines(&m) {
				fmt.Fprintln(out, visible(line))
			}
		}
		counts, err := store.Counts(ctx)
		if err != nil {
			return err
		}
		var parts []string
		total := 0
		for _, s := range incoming.States {
			if n := int(counts[s]); n > 0 {
				total += n
				parts = append(parts, thousands(n)+" "+string(s))
			}
		}
		summary := "no mentions"
		if total > 0 {
			summary = count(total, "mention") + ": " + strings.Join(parts, ", ")
		}
		fmt.Fprintln(out, summary)
		return out.Flush()
	})
	addWordFlag(cmd, &state, "state", "list mentions in `STATE`: "+config.OneOf(stateWords()), stateWords()...)
	cmd.Flags().StringVar(&site, "site", "", "list mentions from `SITE`, a host or a page")
	addWordFlag(cmd, &format, "format", "print as `FORMAT`: text or json", "text", "json")
	return cmd
}

// mentionLines describes a mention in a list.
func mentionLines(m *incoming.Mention) []string {
	lines := []string{fmt.Sprintf("  %s  %s  %s", m.ID[:min(len(m.ID), 12)], m.State, m.Remote())}
	if m.Action.Ours() {
		lines[0] += "  (" + strings.ToUpper(string(m.Action)) + ": this page links to it)"
	}
	if text := mentionText(m); text != "" {
		lines = append(lines, "      "+text)
	}
	if m.Replacement != "" {
		lines = append(lines, "      now "+m.Replacement)
	}
	if m.Reason != "" {
		lines = append(lines, "      "+m.Reason)
	}
	return lines
}

// mentionText returns the title and author of a mention in one line.
func mentionText(m *incoming.Mention) string {
	text := ""
	if m.Title != "" {
		text = fmt.Sprintf("%q", m.Title)
	}
	if m.Author.Name != "" {
		text = strings.TrimSpace(text + " by " + m.Author.Name)
	}
	return text
}

// atLeastOne refuses a call without arguments.
func atLeastOne(what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return text.Usage(fmt.Sprintf("%s needs %s", cmd.Name(), what), example)
		}
		return nil
	}
}

func mentionsShowCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show MENTION...", Args: atLeastOne("a mention", "sitelink mentions list prints their IDs"),
	}
	return mentionsSub(c, cmd, func(ctx context.Context, _ *project.Project, store incoming.Store, args []string) error {
		found, err := receive.Select(ctx, store, args)
		if err != nil {
			return err
		}
		for i := range found {
			if i > 0 {
				if err := c.print("\n"); err != nil {
					return err
				}
			}
			if err := c.print(mentionDetails(&found[i])); err != nil {
				return err
			}
		}
		return nil
	})
}

// mentionDetails returns one line for each thing that is known.
func mentionDetails(m *incoming.Mention) string {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, visible(value))
		}
	}
	date := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	row("id", m.ID)
	row("state", string(m.State))
	row("reason", m.Reason)
	if m.Fault != 0 {
		row("fault", fmt.Sprint(m.Fault))
	}
	row("protocol", strings.TrimSpace(string(m.Protocol)+" "+strings.TrimPrefix(string(m.Action), string(incoming.Link))))
	row("source", m.Source)
	row("target", m.Target)
	row("replacement", m.Replacement)
	row("title", m.Title)
	row("author", strings.TrimSpace(m.Author.Name+" "+m.Author.URL))
	row("language", m.Lang)
	row("excerpt", m.Excerpt)
	row("received", date(m.Received))
	row("verified", date(m.Verified))
	row("next look", date(m.Due))
	if m.Peer.IsValid() {
		row("sent by", m.Peer.String())
	}
	return b.String()
}

func mentionsDecideCommand(c *cli, name string) *cobra.Command {
	var trust bool
	cmd := &cobra.Command{
		Use: name + " MENTION...", Args: atLeastOne("a mention", "sitelink mentions list prints their IDs"),
	}
	to := incoming.Refused
	if name == "approve" {
		to = incoming.Approved
	}
	mentionsSub(c, cmd, func(ctx context.Context, p *project.Project, store incoming.Store, args []string) error {
		found, err := receive.Select(ctx, store, args)
		if err != nil {
			return err
		}
		changed, others, err := receive.Decide(ctx, store, found, to)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s %s", count(changed, "mention"), to)
		if others > 0 {
			text += fmt.Sprintf("; %s by the same authors %s", count(others, "held mention"), to)
		}
		c.ui.note(text)
		if !trust {
			return nil
		}
		owners := receive.Owners(found)
		rules, err := receive.Rules(owners, incoming.Trust, "")
		if err != nil {
			return err
		}
		more, err := receive.SetRules(ctx, store, receive.RulesFile(p), rules)
		if err == nil {
			c.ui.note(fmt.Sprintf("trusted: %s; %s more %s", strings.ReplaceAll(strings.Join(owners, ", "), "%40", "@"), count(more, "mention"), to))
		}
		return err
	})
	if name == "approve" {
		cmd.Flags().BoolVar(&trust, "trust", false, "also approve all other mentions from the same sites, now and later")
	}
	return cmd
}

func mentionsRuleCommand(c *cli, name string) *cobra.Command {
	var reason, list string
	verdict := incoming.Block
	cmd := &cobra.Command{
		Use: name + " SITE...",
	}
	if name == "unblock" {
		verdict = ""
	}
	mentionsSub(c, cmd, func(ctx context.Context, p *project.Project, store incoming.Store, args []string) error {
		rules, err := receive.Rules(args, verdict, reason)
		if err != nil {
			return err
		}
		if list != "" {
			more, err := readBlockList(c, list, reason)
			if err != nil {
				return err
			}
			rules = append(rules, more...)
		}
		if len(rules) == 0 {
			return text.Usage(name+" needs a site", "sitelink mentions "+name+" spam.example")
		}
		changed, err := receive.SetRules(ctx, store, receive.RulesFile(p), rules)
		if err == nil {
			c.ui.note(fmt.Sprintf("%s %sed, %s changed", count(len(rules), "site"), name, count(changed, "mention")))
		}
		return err
	})
	if name == "block" {
		cmd.Flags().StringVar(&reason, "reason", "", "remember `TEXT` as the reason")
		cmd.Flags().StringVar(&list, "list", "", "also block the hosts of `FILE`; - means standard input")
	}
	return cmd
}

// readBlockList returns the rules of a block list.
func readBlockList(c *cli, name, reason string) ([]incoming.Rule, error) {
	var in io.Reader = c.env.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read block list %s: %w", name, system.Cause(err))
		}
		defer f.Close()
		in = f
	}
	rules, skipped, err := moderation.ParseBlockList(in, reason)
	if err != nil {
		return nil, fmt.Errorf("read block list %s: %w", name, system.Cause(err))
	}
	if len(skipped) > 0 {
		s := skipped[0]
		c.ui.warning(fmt.Sprintf("%s:%d: %s: %q; %s left out", name, s.Line, s.Why, s.Text, count(len(skipped), "line")))
	}
	return rules, nil
}

func mentionsLoginCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "login", Args: noArguments,
		RunE: c.onProject(func(_ context.Context, p *project.Project, _ []string) error {
			link, err := receive.LoginLink(p, c.env.Getenv)
			if err != nil {
				return err
			}
			return c.print(link + "\n")
		}),
	}
	addConfigFlag(cmd)
	return cmd
}

func mentionsImportCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return text.Usage(fmt.Sprintf("import takes one file, got %d", len(args)), "sitelink mentions import FILE")
			}
			return nil
		},
	}
	mentionsSub(c, cmd, func(ctx context.Context, _ *project.Project, store incoming.Store, args []string) error {
		report, err := receive.Import(ctx, store, args[0])
		for i, s := range report.Skipped {
			if i == maxSkipped {
				c.ui.warning(fmt.Sprintf("%s more were left out", count(len(report.Skipped)-i, "mention")))
				break
			}
			c.ui.warning(fmt.Sprintf("%s: %s: left out: %s", s.Where, s.Source, s.Why))
		}
		c.ui.note(fmt.Sprintf("%s imported, %s known before, %s left out", count(report.Recorded, "mention"), thousands(report.Known), thousands(len(report.Skipped))))
		return err
	})
	return cmd
}

// maxSkipped is how many mentions that an import leaves out are listed.
const maxSkipped = 20

func mentionsExportCommand(c *cli) *cobra.Command {
	var dir, format string
	var backlinks bool
	cmd := &cobra.Command{
		Use: "export", Args: noArguments,
	}
	mentionsSub(c, cmd, func(ctx context.Context, p *project.Project, store incoming.Store, _ []string) error {
		if dir == "" {
			return text.Usage("export needs a directory", "sitelink mentions export --output data/mentions")
		}
		mentions := store.List(ctx, export.Selection)
		if backlinks {
			run, err := c.load(ctx, p.Config)
			if err != nil {
				return err
			}
			defer run.Close()
			mentions = export.Join(mentions, export.Backlinks(ctx, audit.Handle(run.Site), outgoing.Options{}))
		}
		result, err := export.Write(ctx, mentions, dir, export.Options{Format: export.Format(format)})
		if err != nil {
			return err
		}
		c.ui.note(fmt.Sprintf("%s on %s: %s written, %s removed", count(result.Mentions, "mention"), count(result.Pages, "page"),
			count(result.Written, "file"), thousands(result.Removed)))
		return nil
	})
	cmd.Flags().StringVar(&dir, "output", "", "write into the directory `DIR`")
	cmd.Flags().BoolVar(&backlinks, "backlinks", false, "add the links between pages of the site itself, which must be built")
	var formats []string
	for _, f := range export.Formats {
		formats = append(formats, string(f))
	}
	addWordFlag(cmd, &format, "format", "write `FORMAT`: "+config.OneOf(formats), formats...)
	return cmd
}
