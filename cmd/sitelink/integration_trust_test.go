//go:build integration && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
// only at what it leaves: they start git with the commands that read, Hugo with its
// documented listing, and nothing else.
func TestHostileCheckoutsTraced(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("this test needs strace")
	}
	program, err := exec.LookPath("sitelink")
	if err != nil {
		t.Fatal(err)
	}
	all := false
	if long {
		all = true
	}
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
			for i, line := range append(slices.Clone(readOnly), "watch site --baseline-ref HEAD") {
				// Each attack meets a third of the commands, and each command a third of
				// the attacks. watch, which is stopped after some time, meets fewer.
				watches := strings.HasPrefix(line, "watch")
				if !all && line != "check site" && (a+i)%3 > 0 || !all && watches && a%8 > 0 {
					continue
				}
				wrapper := []string{strace, "-f", "-qq", "-s", "4096", "-e", "signal=none", "-e", "trace=" + calls, "-o", trace}
				if watches {
					wrapper = append([]string{"timeout", "--signal=INT", "2"}, wrapper...)
				}
				h.sitelink(wrapper, line)
				text, err := os.ReadFile(trace)
				if err != nil {
					t.Fatal(err)
				}
				for call := range strings.Lines(string(text)) {
					if why := h.forbidden(program, strings.TrimSpace(call)); why != "" {
						t.Errorf("sitelink %s: %s: %s", line, why, call)
					}
				}
			}
		})
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
		// upload-pack of a remote of this machine is git's own.
		switch name := filepath.Base(m[1]); {
		case (name == "git" || strings.HasPrefix(name, "git-")) && !strings.HasPrefix(m[1], h.base) && len(args) > 1:
			allowed := []string{"rev-parse", "config", "ls-files", "ls-tree", "cat-file", "version",
				"init", "ls-remote", "fetch", "upload-pack", "git-upload-pack", "index-pack", "unpack-objects", "rev-list", "pack-objects", "remote-http", "maintenance", "--shallow-file"}
			if slices.Contains(allowed, strings.TrimPrefix(args[1], "git-")) || name != "git" {
				return ""
			}
		case name == "sh" && len(args) > 2 && strings.HasPrefix(args[2], "git-upload-pack "):
			return ""
		case name == "hugo" && !strings.HasPrefix(m[1], h.base) && len(args) > 1 && slices.Contains([]string{"config", "list", "version"}, args[1]):
			return ""
		case slices.Contains([]string{"jekyll", "zola", "mkdocs"}, name) && !strings.HasPrefix(m[1], h.base) && len(args) == 2 && args[1] == "--version":
			return ""
		case name == "go" && !strings.HasPrefix(m[1], h.base): // Hugo reads its modules
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
		for _, name := range quoted.FindAllStringSubmatch(m[1], -1) {
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
