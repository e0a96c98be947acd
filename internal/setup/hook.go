package setup

import (
	"errors"
	"fmt"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/fault"
)

// HookStatus says in one line how git comes to run sitelink.
func HookStatus(s githook.Status) string {
	switch s.Method {
	case githook.ByConfig:
		return "pre-push: installed in the configuration of git (hook.sitelink.pre-push)"
	case githook.ByFile:
		return "pre-push: installed as " + s.File
	case githook.ByChain:
		return "pre-push: installed as " + s.File + ", before the hook that was there"
	case githook.ByManager:
		return fmt.Sprintf("pre-push: run by %s, see %s", s.Manager, s.ManagerFile)
	}
	return "pre-push: not installed"
}

// ExplainHook adds a hint to an error of the git hooks; nil stays nil.
func ExplainHook(err error) error {
	var managed *githook.ManagedError
	var shared *githook.SharedHooksError
	var module *githook.SubmoduleError
	var late *githook.TimeoutError
	var full *githook.DiskFullError
	hint := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, githook.ErrNoWorkTree):
		hint = "go to the repository of the site, or make one with git init"
	case errors.Is(err, githook.ErrNoGit):
		hint = "install git and put it on PATH"
	case errors.As(err, &managed):
		hint = fmt.Sprintf("add to %s what is printed above", managed.File)
	case errors.As(err, &shared):
		hint = "git config --local core.hooksPath .githooks gives this repository its own; git 2.54 needs none"
	case errors.As(err, &module):
		hint = "git submodule update --init --recursive fetches it"
	case errors.As(err, &full):
		hint = "make room there, or commit or stash what is changed: a working tree that is exactly what is pushed needs no copy"
	case errors.As(err, &late):
		hint = "run sitelink hook run before the push: what passed is remembered; or raise timeout in [hook], and " +
			"ServerAliveInterval of ssh, or push by https, since servers close idle connections"
	default:
		return err
	}
	return fault.New(err, hint)
}
