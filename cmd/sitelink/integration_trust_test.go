//go:build integration && linux

package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// calls are the system calls that start a program, change a file or connect.
const calls = "execve,connect,open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,truncate,link,linkat,symlink,symlinkat"

var (
	executed  = regexp.MustCompile(`execve\("([^"]*)", \[(.*?)\]`)
	connected = regexp.MustCompile(`connect\(\d+, \{sa_family=AF_INET6?`)
	opened    = regexp.MustCompile(`(?:open|openat|openat2|creat)\((?:AT_FDCWD(?:<[^>]*>)?, |\d+(?:<[^>]*>)?, )?"([^"]*)", (.*)$`)
	made      = regexp.MustCompile(`(?:mkdir|mkdirat|rename|renameat|renameat2|unlink|unlinkat|truncate|link|linkat|symlink|symlinkat)\((.*)$`)
	quoted    = regexp.MustCompile(`"([^"]*)"`)
)

// TestHostileCheckoutsTraced looks at what the commands ask the system for, not
// only at what it leaves: they start git with the commands that read, and nothing else.
func TestHostileCheckoutsTraced(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("this test needs strace")
	}
	program := testkit.Must(exec.LookPath("sitelink"))(t)
	all := testkit.Longer(false, true)
	newHugo := os.Getenv("SITELINK_HUGO")
	if newHugo == "" {
		t.Fatal("SITELINK_HUGO is not set: it names a Hugo newer than Debian's; .ci/run builds one")
	}
	type attackWith struct {
		name, hugo string
		make       func(*hostile)
	}
	var tries []attackWith
	for _, attack := range attacks {
		tries = append(tries, attackWith{attack.name, "", attack.make})
		if strings.HasPrefix(attack.name, "hugo") {
			tries = append(tries, attackWith{attack.name + ", new", newHugo, attack.make})
		}
	}
	for a, attack := range tries {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			if attack.hugo != "" {
				h.env = append(h.env, "PATH="+filepath.Dir(attack.hugo)+string(os.PathListSeparator)+os.Getenv("PATH"))
			}
			attack.make(h)
			trace := filepath.Join(h.base, "trace")
			for i, line := range slices.Concat(readOnly, building, []string{"watch site --baseline-ref HEAD"}) {
				if trusts(line, attack.name) {
					continue
				}
				// Each attack meets an eighth of the commands, and each command an eighth of
				// the attacks; all in the long step. watch, which is stopped after some
				// time, meets fewer.
				watches := strings.HasPrefix(line, "watch")
				if !all && line != "check site" && (a+i)%8 > 0 || !all && watches && a%16 > 0 {
					continue
				}
				wrapper := []string{strace, "-f", "-qq", "-s", "4096", "-e", "signal=none", "-e", "trace=" + calls, "-o", trace}
				if watches {
					wrapper = append([]string{"timeout", "--signal=INT", "2"}, wrapper...)
				}
				h.sitelink(wrapper, line)
				text := testkit.Read(t, trace)
				for call := range strings.Lines(string(text)) {
					if why := h.forbidden(program, strings.TrimSpace(call)); why != "" {
						t.Errorf("sitelink %s: %s: %s", line, why, call)
					}
				}
			}
		})
	}
}

// TestHugoModulesInCache: modules that a build has downloaded are used, and nothing
// connects to see whether there are others.
func TestHugoModulesInCache(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("this test needs strace")
	}
	debian, err := exec.LookPath("hugo")
	if err != nil {
		t.Fatal("this test needs hugo")
	}
	for name, hugo := range map[string]string{"old": debian, "new": os.Getenv("SITELINK_HUGO")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			const version = "elsewhere/proxy/example.org/theme/@v/v1.0.0"
			h.write(version+".info", `{"Version": "v1.0.0", "Time": "2024-01-01T00:00:00Z"}`)
			h.write(version+".mod", "module example.org/theme\n")
			var module bytes.Buffer
			z := zip.NewWriter(&module)
			for file, text := range map[string]string{
				"go.mod": "module example.org/theme\n", "content/m.md": "---\ntitle: m\n---\n[x](/gone/)\n", "layouts/_default/single.html": "<!doctype html><body>{{ .Content }}",
			} {
				if w, err := z.Create("example.org/theme@v1.0.0/" + file); err != nil {
					t.Fatal(err)
				} else if _, err := io.WriteString(w, text); err != nil {
					t.Fatal(err)
				}
			}
			testkit.Check(t, z.Close())
			h.write(version+".zip", module.String())
			h.write("repo/hugo.toml", "baseURL = 'https://me.example/'\n[[module.imports]]\npath = 'example.org/theme'\n")
			h.write("repo/go.mod", "module x\n\ngo 1.20\n\nrequire example.org/theme v1.0.0\n")
			h.env = append(h.env, "PATH="+filepath.Dir(hugo)+string(os.PathListSeparator)+os.Getenv("PATH"), "GOFLAGS=-modcacherw")
			build := exec.Command(hugo)
			build.Dir, build.Env = h.repo, append(slices.Clone(h.env), "HUGO_MODULE_PROXY=file://"+filepath.Join(h.elsewhere, "proxy"), "HUGO_MODULE_NOPROXY=none", "GOSUMDB=off", "GOFLAGS=-mod=mod -modcacherw")
			testkit.Run(t, build)

			trace := filepath.Join(h.base, "trace")
			_, out := h.sitelink([]string{strace, "-f", "-qq", "-s", "4096", "-e", "signal=none", "-e", "trace=" + calls, "-o", trace}, "check public")
			if !strings.Contains(out, "example.org/theme@v1.0.0/content/m.md:4:5: error") {
				t.Errorf("the link is not where its module has it:\n%s", out)
			}
			text := testkit.Read(t, trace)
			for call := range strings.Lines(string(text)) {
				if connected.MatchString(call) {
					t.Errorf("sitelink check connects: %s", call)
				}
			}
		})
	}
}

// TestReadingTraced lists what the reading commands start in a project of each generator, as a
// clone, and as an archive whose .git names programs: git, and nothing of the checkout. The log has the list.
func TestReadingTraced(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("this test needs strace")
	}
	program := testkit.Must(exec.LookPath("sitelink"))(t)
	for generator, files := range recognised {
		for _, kind := range []string{"clone", "archive"} {
			if kind == "clone" && generator != "hugo" {
				continue // it has less of what is hostile, and Hugo has most commands of its own
			}
			t.Run(generator+" "+kind, func(t *testing.T) {
				t.Parallel()
				h := newHostile(t)
				h.recognise(files)
				if kind == "clone" {
					h.git("repo", "add", "-A", "-f")
					h.git("repo", "commit", "-q", "-m", "all")
					h.git("", "clone", "-q", "repo", "clone")
					h.repo = filepath.Join(h.base, "clone")
				} else {
					h.config("core.fsmonitor", h.evil, "core.sshCommand", h.evil, "core.hooksPath", "node_modules/.bin", "diff.external", h.evil)
				}
				trace := filepath.Join(h.base, "trace")
				started := map[string]int{}
				for _, line := range append(slices.Clone(readOnly), "watch site") {
					if strings.HasPrefix(line, "hook") {
						continue
					}
					wrapper := []string{strace, "-f", "-qq", "-s", "4096", "-e", "signal=none", "-e", "trace=execve,connect", "-o", trace}
					if line == "watch site" { // until it is interrupted, as all of its group
						wrapper = append([]string{"timeout", "-s", "INT", "2"}, wrapper...)
					}
					if _, out := h.sitelink(wrapper, line); line == "watch site" && !strings.Contains(out, "gone.html") {
						t.Errorf("sitelink watch reported nothing:\n%s", out)
					}
					for call := range strings.Lines(string(testkit.Read(t, trace))) {
						m := executed.FindStringSubmatch(call)
						if why := h.forbidden(program, strings.TrimSpace(call)); why != "" {
							t.Errorf("sitelink %s: %s: %s", line, why, call)
						}
						if m != nil && !strings.Contains(call, "ENOENT") {
							started[filepath.Base(m[1])]++
						}
					}
				}
				t.Logf("started: %v", started)
			})
		}
	}
}

// forbidden says what is wrong with a call, "" if nothing is.
func (h *hostile) forbidden(program, call string) string {
	if m := executed.FindStringSubmatch(call); m != nil {
		if strings.Contains(call, "ENOENT") || m[1] == program {
			return ""
		}
		var args []string
		for _, a := range quoted.FindAllStringSubmatch(m[2], -1) {
			args = append(args, a[1])
		}
		if len(args) > 3 && args[0] == "git" && args[1] == "-c" { // a setting
			args = slices.Delete(args, 1, 3)
		}
		// upload-pack of a remote of this machine is git's own.
		switch name := filepath.Base(m[1]); {
		case (name == "git" || strings.HasPrefix(name, "git-")) && !strings.HasPrefix(m[1], h.base) && len(args) > 1:
			allowed := []string{"rev-parse", "config", "check-ignore", "for-each-ref", "ls-files", "ls-tree", "cat-file", "version", "log",
				"init", "ls-remote", "fetch", "upload-pack", "git-upload-pack", "index-pack", "unpack-objects", "rev-list", "pack-objects", "remote-http", "maintenance", "--shallow-file"}
			if slices.Contains(allowed, strings.TrimPrefix(args[1], "git-")) || name != "git" {
				return ""
			}
		case name == "sh" && len(args) > 2 && strings.HasPrefix(args[2], "git-upload-pack "):
			return ""
		}
		return "it starts a program"
	}
	if connected.MatchString(call) {
		return "it connects"
	}
	if m := opened.FindStringSubmatch(call); m != nil && strings.ContainsAny(m[2], "OW") &&
		(strings.Contains(m[2], "O_WRONLY") || strings.Contains(m[2], "O_RDWR") || strings.Contains(m[2], "O_CREAT") || strings.Contains(m[2], "O_TRUNC")) {
		return h.outsideOf(m[1])
	}
	if m := made.FindStringSubmatch(call); m != nil && !strings.Contains(call, " = -1 ") {
		names := quoted.FindAllStringSubmatch(m[1], -1)
		if strings.Contains(call, "symlink") { // where it leads is no file that it writes
			names = names[1:]
		}
		for _, name := range names {
			if why := h.outsideOf(name[1]); why != "" {
				return why
			}
		}
	}
	return ""
}

// outsideOf describes a path outside the checkout that is written to; "" if it is inside.
func (h *hostile) outsideOf(name string) string {
	if h.ours(name) {
		return ""
	}
	if filepath.IsAbs(name) && (strings.HasPrefix(name, h.home) || strings.HasPrefix(name, h.elsewhere)) {
		return "it writes outside of the checkout"
	}
	return ""
}
