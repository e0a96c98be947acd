package testkit

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// Check ends a test with an error that it does not expect. It skips the test where Windows
// has no such name as a?b.html, or the user may not make symbolic links.
func Check(t testing.TB, err error) {
	t.Helper()
	const invalidName, noPrivilege = syscall.Errno(123), syscall.Errno(1314)
	switch {
	case runtime.GOOS == "windows" && (errors.Is(err, invalidName) || errors.Is(err, noPrivilege)):
		t.Skip("Windows refuses it: ", err)
	case err != nil:
		t.Fatal(err)
	}
}

// Run runs a command. If it fails, the test ends with what the command printed.
func Run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
}

// Git runs git in a directory and returns what it prints.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// Long skips a slow test, unless SITELINK_LONG is set, as it is in a step of .ci/run.
func Long(t testing.TB) {
	t.Helper()
	if os.Getenv("SITELINK_LONG") == "" {
		t.Skip("set SITELINK_LONG=1 to run it")
	}
}

// Longer returns what a test does with SITELINK_LONG, otherwise short: sizes, rounds
// or cases. As with [Long], .ci/run finds the tests that call it themselves.
func Longer[T any](short, long T) T {
	if os.Getenv("SITELINK_LONG") == "" {
		return short
	}
	return long
}

// Must returns what a call returned, or ends the test with its error:
//
//	s := testkit.Must(site.Load(ctx, dir, site.Options{}))(t)
func Must[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Check(t, err)
		return value
	}
}
