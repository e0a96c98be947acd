package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/move"
	"github.com/sitelink/sitelink/internal/text"
)

// mvFlags are the flags of mv.
type mvFlags struct {
	write, undo, keepID, force bool
}

func mvCommand(c *cli) *cobra.Command {
	var f mvFlags
	cmd := &cobra.Command{
		Use: "mv OLD NEW",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.undo && (len(args) > 0 || f.write || f.keepID || f.force):
				return text.Usage("--undo takes nothing else", "sitelink mv --undo")
			case !f.undo && len(args) != 2:
				return text.Usage(fmt.Sprintf("mv takes two names, got %d", len(args)), "sitelink mv OLD NEW")
			case !f.undo && (args[0] == "" || args[1] == ""):
				return text.Usage("a name is empty", "sitelink mv OLD NEW")
			case f.keepID && !strings.Contains(args[0], "#"):
				return text.Usage("--keep-id is for headings", "sitelink mv --keep-id 'PAGE#Heading' 'New heading'")
			}
			return nil
		},
		RunE: c.onProject(func(ctx context.Context, p *project.Project, args []string) error {
			if f.undo {
				u, err := move.Undo(ctx, p.Root, os.Environ())
				if err != nil {
					return err
				}
				fmt.Fprintf(c.env.Stdout, "%s restored: %s\n", count(len(u.Files), "file"), visible(u.Command))
				return u.Err()
			}
			return runMove(ctx, c, p, args, f)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.write, "write", false, "change the files")
	flags.BoolVar(&f.undo, "undo", false, "restore the files and git's index as they were before the last move")
	flags.BoolVar(&f.keepID, "keep-id", false, "let a renamed heading keep its id")
	flags.BoolVar(&f.force, "force", false, "with --write: change the files although links break or addresses are lost")
	addConfigFlag(cmd)
	addSiteKeyFlags(cmd)
	return cmd
}

// runMove does the work of `sitelink mv`.
func runMove(ctx context.Context, c *cli, p *project.Project, names []string, f mvFlags) error {
	plan, err := move.Make(ctx, p, move.Options{
		Old: names[0], New: names[1], KeepID: f.keepID, Note: c.ui.note,
	})
	var failed *move.BuildError
	if errors.As(err, &failed) {
		for _, line := range failed.Output {
			c.ui.line("build: " + line)
		}
	}
	if err != nil {
		return err
	}
	harmful := len(plan.Broken)+len(plan.Lost) > 0
	if harmful && f.write && !f.force {
		printBroken(c, p, plan)
		return errFindings
	}
	var out bytes.Buffer
	printPlan(&out, plan, f.write)
	if !f.write {
		if err := plan.Set.Diff(&out); err != nil {
			return err
		}
	}
	if f.write {
		command := "sitelink mv " + strings.Join(names, " ")
		if err := plan.Set.Apply(ctx, command); err != nil {
			return err
		}
	}
	if _, err := io.Copy(c.env.Stdout, &out); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	// These links keep leading to old addresses.
	if len(plan.Composed) > 0 {
		c.ui.note(fmt.Sprintf("%s cannot be rewritten, because no source has the address as it is; a redirect keeps them working:", count(len(plan.Composed), "link")))
		printFindings(c, p, plan.Composed)
	}
	if len(plan.Kept) > 0 {
		names := make([]string, len(plan.Kept))
		for i, k := range plan.Kept {
			names[i] = k.Old
		}
		c.ui.note(fmt.Sprintf("templates compose %s from the new one, which redirect to the pages that the links led to before: %s",
			count(len(names), "address"), strings.Join(firstNames(names, 5), ", ")))
	}
	if harmful {
		printBroken(c, p, plan)
		return errFindings
	}
	if f.write {
		c.ui.note("to take it back: sitelink mv --undo")
	}
	return nil
}

// printPlan writes what moves. `git apply` skips these lines before a diff.
func printPlan(w io.Writer, plan *move.Plan, done bool) {
	for _, r := range plan.Renames {
		fmt.Fprintf(w, "%s -> %s\n", visible(r.Old), visible(r.New))
	}
	if h := plan.Heading; h != nil && h.Old != h.New {
		fmt.Fprintf(w, "%s#%s -> #%s\n", visible(plan.Page), visible(h.Old), visible(h.New))
	} else if h != nil && h.Old != "" {
		fmt.Fprintf(w, "%s#%s stays\n", visible(plan.Page), visible(h.Old))
	}
	const most = 20
	for i, a := range plan.Addresses {
		if i == most {
			fmt.Fprintf(w, "and %s more\n", count(len(plan.Addresses)-most, "address"))
			break
		}
		fmt.Fprintf(w, "%s -> %s\n", visible(a.Old), visible(a.New))
	}
	verb := "to rewrite"
	if done {
		verb = "rewritten"
	}
	fmt.Fprintf(w, "%s in %s %s\n", count(plan.Links, "link"), count(plan.Files, "file"), verb)
	if !done {
		fmt.Fprintln(w)
	}
}

func firstNames(all []string, n int) []string {
	if len(all) > n {
		return append(all[:n:n], "...")
	}
	return all
}

// printFindings lists where links are: one line for each place, or for each address
// without a known place.
func printFindings(c *cli, p *project.Project, all []check.Finding) {
	opt := textOptions(p)
	lines, times := []string{}, map[string]int{}
	for _, f := range all {
		what := f.Raw
		if f.Code != check.ViaRedirect {
			what = fmt.Sprintf("%s [%s]", f.Message, f.Code)
		}
		line := fmt.Sprintf("%s, first on %s", what, f.Page)
		if f.Source != nil {
			line = fmt.Sprintf("%s:%d:%d: %s", opt.Source(f.Source.File), f.Source.Line, f.Source.Column, what)
		} else if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, what+", first on ") }); i >= 0 {
			line = lines[i]
		}
		if times[line]++; times[line] == 1 {
			lines = append(lines, line)
		}
	}
	const most = 20
	for i, line := range lines {
		if i == most {
			c.ui.line(fmt.Sprintf("  and %s more", thousands(len(lines)-most)))
			break
		}
		c.ui.line(fmt.Sprintf("  %s (%s)", line, count(times[line], "link")))
	}
}

func printBroken(c *cli, p *project.Project, plan *move.Plan) {
	if len(plan.Broken) > 0 {
		c.ui.warning(fmt.Sprintf("the move would break %s:", count(len(plan.Broken), "link")))
		printFindings(c, p, plan.Broken)
		c.ui.line("hint: repair these places first, or use --write --force")
	}
	if len(plan.Lost) > 0 {
		c.ui.warning(fmt.Sprintf("%s will not answer any more, because neither aliases nor rules of the host can keep them: %s",
			count(len(plan.Lost), "old address"), strings.Join(firstNames(plan.Lost, 10), ", ")))
		hint := "hint: add "
		if g := p.Generator; g != nil && g.Generator.Traits().AliasPlugin != "" && move.AliasKey(p, plan.Set) == "" {
			hint += "the plugin " + g.Generator.Traits().AliasPlugin + " to the configuration, or "
		}
		c.ui.line(hint + "a file with redirect rules that the host reads (--profile names the host), or use --write --force")
	}
}
