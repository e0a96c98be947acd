package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/setup"
)

// ask puts a question to the terminal. Without one the answer is no.
func (r *initRun) ask(ctx context.Context, question string) (bool, error) {
	if r.answer == nil {
		return false, nil
	}
	for range 3 {
		fmt.Fprintf(r.env.Stderr, "%s [y/N] ", visible(question))
		text, err := r.line(ctx)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		}
	}
	return false, nil
}

// line reads what the user types. Reading cannot be interrupted, but waiting for
// it can.
func (r *initRun) line(ctx context.Context) (string, error) {
	type typed struct {
		text string
		err  error
	}
	got := make(chan typed, 1)
	go func() {
		text, err := r.answer.ReadString('\n')
		got <- typed{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case t := <-got:
		if t.err != nil && t.text == "" {
			fmt.Fprintln(r.env.Stderr)
			return "", &failure{errNoAnswer, "nothing was written; sitelink init --yes asks nothing"}
		}
		return t.text, nil
	}
}

func (r *initRun) wantsHook(ctx context.Context) (bool, error) {
	if r.flags.hook || r.repo == nil || r.state.Method != githook.NotInstalled {
		return r.flags.hook, nil
	}
	return r.ask(ctx, "Check each push before it leaves this machine?")
}

// wantedServers are those of the flags, and the ones that the user agrees to.
func (r *initRun) wantedServers(ctx context.Context) ([]setup.Server, error) {
	var wanted []setup.Server
	for _, name := range r.flags.ci {
		s, err := serverNamed(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(wanted, func(w setup.Server) bool { return w.Name == s.Name }) {
			wanted = append(wanted, s)
		}
	}
	if len(wanted) > 0 || len(r.runsIn()) > 0 {
		return wanted, nil
	}
	for _, s := range r.servers() {
		advice := s.Advice(&r.project)
		question := "Show what to add for " + s.Title + "?"
		if advice.File != nil {
			question = fmt.Sprintf("Write %s, so that %s checks the site?", r.shown(advice.File.Path), s.Title)
		}
		yes, err := r.ask(ctx, question)
		if err != nil {
			return nil, err
		}
		if yes {
			wanted = append(wanted, s)
		}
	}
	return wanted, nil
}
