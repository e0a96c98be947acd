package notify

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func environment(list ...string) func(string) string {
	return func(name string) string {
		for _, v := range list {
			if n, value, _ := strings.Cut(v, "="); n == name {
				return value
			}
		}
		return ""
	}
}

// A process that has ended is recognized on the same machine and in the same
// namespaces only.
func TestRunnerEnded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names have no machine on " + runtime.GOOS)
	}
	own := runnerName(environment())
	if runnerEnded(own, own) || runnerEnded(own, runnerName(environment())) {
		t.Error("this process has ended")
	}
	cmd := exec.Command("sleep", "60")
	testkit.Check(t, cmd.Start())
	words := strings.Fields(own)
	host, _, _ := strings.Cut(words[0], ":")
	pid := strconv.Itoa(cmd.Process.Pid)
	child := strings.Join([]string{host + ":" + pid, words[1], "start=" + startTime(cmd.Process.Pid), "ABCDEFGH"}, " ")
	if runnerEnded(own, child) {
		t.Errorf("%s is alive", child)
	}
	if later := strings.Replace(child, "start=", "start=1", 1); !runnerEnded(own, later) {
		t.Errorf("%s has another process ID's start time", later)
	}
	testkit.Check(t, cmd.Process.Kill())
	for !runnerEnded(own, child) { // a zombie until Wait
	}
	cmd.Wait()
	if !runnerEnded(own, child) {
		t.Errorf("%s has ended", child)
	}
	for name, other := range map[string]string{
		"another machine or container": strings.Replace(child, "at=", "at=0", 1),
		"no machine":                   host + ":" + pid + " start=1 X",
		"no start time":                host + ":" + pid + " " + words[1] + " X",
		"no process ID":                host + " " + words[1] + " start=1 X",
		"a name of an older version":   host + "-" + pid + "-ABCDEFGH",
		"no name":                      "",
	} {
		if runnerEnded(own, other) {
			t.Errorf("%s: %q has ended", name, other)
		}
	}
	// Process 1 belongs to another user, or is not this one.
	if _, err := os.Stat("/proc/1/stat"); err == nil {
		if init := host + ":1 " + words[1] + " start=" + startTime(1) + " X"; runnerEnded(own, init) {
			t.Errorf("%s has ended", init)
		}
	}
}

// In CI, a later attempt of the same job comes after the earlier one has ended.
func TestRunnerInCI(t *testing.T) {
	github := func(repository, run, job, matrix, attempt string) string {
		return runnerName(environment("GITHUB_REPOSITORY="+repository, "GITHUB_RUN_ID="+run, "GITHUB_JOB="+job, "SITELINK_MATRIX="+matrix, "GITHUB_RUN_ATTEMPT="+attempt))
	}
	gitlab := func(job, id string) string {
		return runnerName(environment("GITLAB_CI=true", "CI_PROJECT_ID=7", "CI_PIPELINE_ID=9", "CI_JOB_NAME="+job, "CI_JOB_ID="+id))
	}
	own := github("a/b", "1", "deploy", "", "3")
	for _, c := range []struct {
		name       string
		own, other string
		ended      bool
	}{
		{"an earlier attempt", own, github("a/b", "1", "deploy", "", "2"), true},
		{"the same attempt", own, github("a/b", "1", "deploy", "", "3"), false},
		{"a later attempt", own, github("a/b", "1", "deploy", "", "4"), false},
		{"another repository", own, github("a/c", "1", "deploy", "", "2"), false},
		{"another run", own, github("a/b", "2", "deploy", "", "2"), false},
		{"another job", own, github("a/b", "1", "test", "", "2"), false},
		{"another matrix", own, github("a/b", "1", "deploy", "{}", "2"), false},
		{"no attempt", own, github("a/b", "1", "deploy", "", ""), false},
		{"no job", own, github("a/b", "1", "", "", "2"), false},
		{"GitLab, retried", gitlab("deploy: [x]", "20"), gitlab("deploy: [x]", "19"), true},
		{"GitLab, another matrix", gitlab("deploy: [x]", "20"), gitlab("deploy: [y]", "19"), false},
		{"GitLab and GitHub", gitlab("deploy", "20"), own, false},
	} {
		if got := runnerEnded(c.own, c.other); got != c.ended {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
