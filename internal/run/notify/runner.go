package notify

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
)

// A runner name tells other runs which process has claimed notices in a shared
// ledger. It has these words. All except the first and the last can be missing:
//
//	HOST:PID  host name and process ID, for people
//	at=ID     the machine since its last start, and the namespaces of process
//	          IDs and times
//	start=N   the start time of the process, in ticks since the machine started
//	ci=ID     the job of a CI run: the repository, the run, the job and its matrix
//	try=N     the attempt of the job
//	TOKEN     random
//
// A process with the same at= can look up whether the process still exists. A job
// with the same ci= and a later attempt runs only after the earlier attempt has
// ended.

// runnerName returns the name of this process.
func runnerName(getenv func(string) string) string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "host"
	}
	words := []string{strings.Join(strings.Fields(host), "") + ":" + strconv.Itoa(os.Getpid())}
	if at, start := machine(), startTime(os.Getpid()); at != "" && start != "" {
		words = append(words, "at="+digest(host, at), "start="+start)
	}
	if job, attempt := ciJob(getenv); job != "" {
		words = append(words, "ci="+job, "try="+strconv.FormatUint(attempt, 10))
	}
	return strings.Join(append(words, rand.Text()[:8]), " ")
}

// digest returns a short name for several strings.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// machine identifies the machine since its last start, and the namespaces in which
// process IDs and start times are valid. It returns "" if the system does not have
// them.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	pids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	times, _ := os.Readlink("/proc/self/ns/time") // since Linux 5.6
	return strings.TrimSpace(string(boot)) + " " + pids + " " + times
}

// startTime returns the start time of a process. It returns "" if no such
// process exists, or if it has ended and its parent has not noticed yet.
func startTime(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The second field is the name in parentheses, which may contain both.
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const state, start = 0, 19 // fields 3 and 22 of proc(5), without the first two
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return fields[start]
}

// ciJob returns the job of a CI run and its attempt, "" outside of CI. GitHub does
// not name the matrix in the environment: SITELINK_MATRIX does.
func ciJob(getenv func(string) string) (job string, attempt uint64) {
	var parts []string
	var number string
	switch {
	case getenv("GITHUB_RUN_ID") != "":
		parts = []string{getenv("GITHUB_SERVER_URL"), getenv("GITHUB_REPOSITORY"), getenv("GITHUB_RUN_ID"), getenv("GITHUB_JOB")}
		number = getenv("GITHUB_RUN_ATTEMPT")
	case getenv("CI_PIPELINE_ID") != "" && getenv("GITLAB_CI") != "":
		// The name of a job includes its matrix; a retried job has a higher number.
		parts = []string{getenv("CI_SERVER_URL"), getenv("CI_PROJECT_ID"), getenv("CI_PIPELINE_ID"), getenv("CI_JOB_NAME")}
		number = getenv("CI_JOB_ID")
	default:
		return "", 0
	}
	attempt, err := strconv.ParseUint(number, 10, 64)
	for _, p := range parts[1:] {
		if p == "" || err != nil {
			return "", 0
		}
	}
	return digest(append(parts, getenv("SITELINK_MATRIX"))...), attempt
}

// runnerEnded reports whether the process with the name other has ended for
// certain, as far as the process with the name own can know.
func runnerEnded(own, other string) bool {
	a, b := runnerWords(own), runnerWords(other)
	if a["ci"] != "" && a["ci"] == b["ci"] {
		mine, err := strconv.ParseUint(a["try"], 10, 64)
		theirs, otherErr := strconv.ParseUint(b["try"], 10, 64)
		if err == nil && otherErr == nil && mine > theirs {
			return true
		}
	}
	if a["at"] == "" || a["at"] != b["at"] || b["start"] == "" {
		return false
	}
	first, _, _ := strings.Cut(other, " ")
	pid, err := strconv.Atoi(first[strings.LastIndexByte(first, ':')+1:])
	if err != nil || pid <= 0 {
		return false
	}
	start := startTime(pid)
	return start != b["start"] && (start != "" || !hidden(pid))
}

func runnerWords(name string) map[string]string {
	words := map[string]string{}
	for _, w := range strings.Fields(name) {
		if key, value, ok := strings.Cut(w, "="); ok {
			words[key] = value
		}
	}
	return words
}

// RunnerShown returns the part of a runner's name that people understand.
func RunnerShown(name string) string {
	first, _, _ := strings.Cut(name, " ")
	return cmp.Or(first, "another run")
}
