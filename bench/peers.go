package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peer is another link checker and the package manager that has it.
type peer struct {
	name    string
	version string   // the version measured; empty: what the system's packages hold
	install []string // {cache} stands for the cache directory
	// inBench runs install in the bench module, whose go.mod pins the version.
	inBench bool
}

var peers = []peer{
	{"hyperlink", "0.3.2", []string{"cargo", "install", "hyperlink", "--version", "0.3.2", "--locked", "--root", "{cache}"}, false},
	{"lychee", "0.24.2", []string{"cargo", "install", "lychee", "--version", "0.24.2", "--locked", "--root", "{cache}"}, false},
	{"htmltest", "v0.17.0", []string{"go", "build", "-o", "{cache}/bin/htmltest", "github.com/wjdp/htmltest"}, true},
	{"linklint", "", []string{"apt-get", "install", "-y", "linklint"}, false},
	{"linkchecker", "", []string{"apt-get", "install", "-y", "linkchecker"}, false},
}

var errNoPeer = errors.New("not installed")

// find returns the peer's binary and version. The cache goes before PATH,
// PATH before cargo's own directory; a binary of another version does not
// count.
func (p peer) find(ctx context.Context, cache string) (path, version string, err error) {
	candidates := []string{filepath.Join(cache, "bin", p.name)}
	if onPath, err := exec.LookPath(p.name); err == nil {
		candidates = append(candidates, onPath)
	}
	if home, err := os.UserHomeDir(); err == nil {
		candidates = append(candidates, filepath.Join(home, ".cargo", "bin", p.name))
	}
	for _, c := range candidates {
		if _, err := os.Stat(c); err != nil {
			continue
		}
		v, err := p.ask(ctx, c)
		if err != nil {
			return "", "", err
		}
		if p.version == "" || v == p.version {
			return c, v, nil
		}
	}
	return "", "", fmt.Errorf("%s: %w (run the peers command)", p.name, errNoPeer)
}

// ask learns the version of the binary at path.
func (p peer) ask(ctx context.Context, path string) (string, error) {
	switch p.install[0] {
	case "apt-get":
		out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", p.name).Output()
		if err != nil {
			return "", fmt.Errorf("ask version of %s: %w", p.name, err)
		}
		return strings.TrimSpace(string(out)), nil
	case "go":
		// htmltest --version prints nothing in a build of its own.
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("ask version of %s: %w", p.name, err)
		}
		return info.Main.Version, nil
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask version of %s: %w", p.name, err)
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(out)), p.name)), nil
}

// ensure finds the peer or installs it.
func (p peer) ensure(ctx context.Context, s *settings) (path, version string, err error) {
	path, version, err = p.find(ctx, s.cache)
	if !errors.Is(err, errNoPeer) {
		return path, version, err
	}
	argv := make([]string, len(p.install))
	for i, a := range p.install {
		argv[i] = strings.ReplaceAll(a, "{cache}", s.cache)
	}
	dir := "."
	if p.inBench {
		dir = filepath.Join(s.repo, "bench")
	}
	if err := os.MkdirAll(filepath.Join(s.cache, "bin"), 0o755); err != nil {
		return "", "", fmt.Errorf("install %s: %w", p.name, err)
	}
	if err := quiet(ctx, dir, argv[0], argv[1:]...); err != nil {
		return "", "", fmt.Errorf("install %s: %w", p.name, err)
	}
	return p.find(ctx, s.cache)
}

func runPeers(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	if err := s.parse("peers", args, nil); err != nil {
		return err
	}
	var rows [][]string
	for _, p := range peers {
		_, version, err := p.ensure(ctx, &s)
		if err != nil {
			return err
		}
		rows = append(rows, []string{p.name, version, strings.Join(p.install, " ")})
	}
	fmt.Fprint(out, table([]string{"peer", "version", "installed by"}, rows))
	return nil
}
