// Command sitelink keeps a static site's links alive.
//
// This package is the only place that reads flags and the environment, prints
// and exits. The work is done by the packages it wires together; the rules of
// what is printed where stand in ui.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(mainCode())
}

// mainCode is main with an exit code, so that what it defers runs.
func mainCode() int {
	// A reader that goes away (sitelink check | head) shall not kill the
	// process: the write fails with EPIPE, which [stream] knows, and the exit
	// code still tells about the findings.
	signal.Ignore(syscall.SIGPIPE)

	// The first signal cancels the work. Then the default is restored, so that
	// a second one ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	return run(ctx, os.Args[1:], env{
		Stdin:     os.Stdin,
		Stdout:    os.Stdout,
		Stderr:    os.Stderr,
		StdinTTY:  isTerminal(os.Stdin),
		StdoutTTY: isTerminal(os.Stdout),
		StderrTTY: isTerminal(os.Stderr),
		Getenv:    os.Getenv,
	})
}
