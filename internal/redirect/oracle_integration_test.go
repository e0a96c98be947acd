//go:build integration

package redirect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// oracle runs a script of testdata with node, with the packages of SITELINK_NPM
// (see npm_tools in .ci/run), hands it the cases as JSON and reads the answers.
func oracle(t *testing.T, script string, cases, answers any) {
	t.Helper()
	npm := os.Getenv("SITELINK_NPM")
	if npm == "" {
		t.Fatal("SITELINK_NPM is not set: bash .ci/run installs the packages and sets it")
	}
	in := testkit.Must(json.Marshal(cases))(t)
	name := testkit.Must(filepath.Abs(filepath.Join("testdata", "oracle", script)))(t)
	cmd := exec.Command("node", name)
	cmd.Dir = npm
	cmd.Env = append(os.Environ(), "SITELINK_MODULES="+filepath.Join(npm, "node_modules"))
	cmd.Stdin = bytes.NewReader(in)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("node %s: %v\n%s", script, err, stderr.Bytes())
	}
	if err := json.Unmarshal(stdout.Bytes(), answers); err != nil {
		t.Fatalf("node %s: %v\n%.500s", script, err, stdout.Bytes())
	}
}

// oracleCase is a rule file with request targets.
type oracleCase struct {
	Rules   string   `json:"rules"`
	Targets []string `json:"targets"`
}

// oracleAnswer is the answer of the host's software to one target, nil if no rule
// applies.
type oracleAnswer struct {
	To     string `json:"to"`
	Status int    `json:"status"`
}

// compareOracle compares the answers of both sides. answer returns sitelink's
// answers, "" if no rule applies.
func compareOracle(t *testing.T, script string, cases []oracleCase, answer func(rules string) func(target string) string) {
	t.Helper()
	var answers [][]*oracleAnswer
	oracle(t, script, cases, &answers)
	if len(answers) != len(cases) {
		t.Fatalf("%d answers to %d cases", len(answers), len(cases))
	}
	compared, applied, differ := 0, 0, 0
	for i, c := range cases {
		ours := answer(c.Rules)
		for k, target := range c.Targets {
			want := ""
			if a := answers[i][k]; a != nil {
				want = fmt.Sprintf("%d %s", a.Status, a.To)
				applied++
			}
			got := ours(target)
			if got == undecided {
				continue
			}
			compared++
			if got != want {
				if differ++; differ <= 20 {
					t.Errorf("%q, request %q: got %q, the host's software answers %q", c.Rules, target, got, want)
				}
			}
		}
	}
	if compared < 1000 || applied < compared/20 {
		t.Errorf("only %d answers compared, %d with a rule: the cases test nothing", compared, applied)
	}
	t.Logf("%d rule files, %d answers compared, %d with a rule, %d differ", len(cases), compared, applied, differ)
}

// undecided is sitelink's answer if a rule is conditional.
const undecided = "?"

// answersOf returns sitelink's answers as status and destination.
func answersOf(f *File, stage Stage) func(target string) string {
	set := New(Options{Scheme: "https", Host: "h.example"}, f)
	return func(target string) string {
		path, query, _ := strings.Cut(target, "?")
		hit, ok := set.Match(Request{Scheme: "https", Host: "h.example", Path: path, Query: query, Stage: stage})
		if !ok {
			return ""
		}
		if hit.Rule.Conditional {
			return undecided
		}
		return fmt.Sprintf("%d %s", hit.Rule.Status, hit.To)
	}
}

// randomCases returns random rule files and targets that share few words, with a
// fixed seed.
func randomCases(n int, seed uint64, line func(r *rand.Rand) string, segments []string) []oracleCase {
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var cases []oracleCase
	for range n {
		var rules []string
		for range 1 + r.IntN(4) {
			rules = append(rules, line(r))
		}
		c := oracleCase{Rules: strings.Join(rules, "\n") + "\n"}
		for range 12 {
			target := ""
			for range r.IntN(4) {
				target += "/" + pick(segments)
			}
			if target == "" || r.IntN(4) == 0 {
				target += "/"
			}
			if r.IntN(4) == 0 {
				target += "?" + pick([]string{"id=1", "id=2&x=y", "x=y&id=a%20b", "id=", "x", "id=1&id=2"})
			}
			c.Targets = append(c.Targets, target)
		}
		cases = append(cases, c)
	}
	return cases
}
