package generator

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Command is a command line that builds a site.
type Command struct {
	// Args are the program, as the path or a name of it is known, and its
	// arguments.
	Args []string
	// Env are the variables that it needs beside the caller's.
	Env []string
	// Warning is how a line of its output begins by which it warns, when such a
	// line has to fail the build although the command does not.
	Warning string
}

// String is the command as a person would type it.
func (c Command) String() string {
	words := make([]string, len(c.Args))
	for i, arg := range c.Args {
		words[i] = arg
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\$`*?[]{}()<>|&;#~!") {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Builds tells whether there is a command that builds the project.
func (p Project) Builds() bool { return rowOf(p.Generator) != nil }

// Command returns the usual command that builds the project into the directory
// out, an absolute path, with further arguments. It is meant to be run in p.Dir.
// strict lets it warn of pages that fall on one address, and fail at warnings,
// where the generator can do so; where it cannot, [Command.Warning] is set.
func (p Project) Command(run Runner, out string, strict bool, args []string) Command {
	r := rowOf(p.Generator)
	c := r.command(p, run, out)
	if strict {
		c.Args, c.Warning = append(c.Args, r.strict...), r.warning
	}
	c.Args = append(c.Args, args...)
	return c
}

// Usual is what somebody types to build the project where its configuration says:
// "hugo", "npx astro build".
func (p Project) Usual() string {
	if r := rowOf(p.Generator); r != nil {
		return r.usual
	}
	return ""
}

// local returns the way to call a program of npm: the one that the project has
// installed, else npx, which may not fetch it.
func local(p Project, name string) []string {
	program := filepath.Join("node_modules", ".bin", name)
	if _, err := fs.Stat(os.DirFS(p.Dir), filepath.ToSlash(program)); err == nil {
		if abs, err := filepath.Abs(filepath.Join(p.Dir, program)); err == nil {
			return []string{abs}
		}
	}
	return []string{"npx", "--no-install", name}
}

// args puts the words of a command together.
func args(program []string, rest ...string) Command {
	return Command{Args: append(slices.Clone(program), rest...)}
}
