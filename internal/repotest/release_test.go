package repotest

import (
	"cmp"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/hook/githook"
)

var (
	// released is the heading of a release in the changelog: "## 1.2.3", with
	// or without a v, a link or a day.
	released = regexp.MustCompile(`(?m)^## \[?v?(\d+\.\d+\.\d+\S*?)\]?(?:[ (].*)?$`)
	// pinned are the ways in which configuration names a version of sitelink.
	pinned = regexp.MustCompile(`sitelink/(?:sitelink|cmd/sitelink)@([^\s"\x60]+)|sitelink/sitelink\s+rev: (\S+)|ghcr\.io/sitelink/sitelink:([^\s"\x60]+)|npx --yes sitelink@([^\s"\x60]+)`)
)

// TestPinnedVersions checks that every snippet names the newest release, v0.1.0
// before the first one.
func TestPinnedVersions(t *testing.T) {
	newest := "v0.1.0"
	if m := released.FindStringSubmatch(readFile(t, "CHANGELOG.md")); m != nil {
		newest = "v" + m[1]
	}
	if githook.Release != newest {
		t.Errorf("githook.Release is %s, CHANGELOG.md says %s", githook.Release, newest)
	}
	found := 0
	for _, name := range documents(t) {
		for _, m := range pinned.FindAllStringSubmatch(readFile(t, name), -1) {
			found++
			if version := m[1] + m[2] + m[3]; cmp.Or(version, "v"+m[4]) != newest {
				t.Errorf("%s names %s, the newest release is %s", name, version, newest)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d snippets with a version found, there are more", found)
	}
}

// TestReleasePinned: what a release runs and ships is named by commit or digest, and each secret is
// in the job that needs it.
func TestReleasePinned(t *testing.T) {
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (\S+?)@(\S+)(.*)$`)
	commit := regexp.MustCompile(`^[0-9a-f]{40}$`)
	found := 0
	for _, name := range []string{"action.yml", ".github/workflows/release.yml", ".github/workflows/test.yml"} {
		for _, m := range uses.FindAllStringSubmatch(readFile(t, name), -1) {
			found++
			if !commit.MatchString(m[2]) || !strings.HasPrefix(m[3], " # v") {
				t.Errorf("%s: %s@%s: name a commit, and its version in a comment", name, m[1], m[2])
			}
		}
	}
	if found < 10 {
		t.Errorf("%d actions found, there are more", found)
	}
	image := readFile(t, ".ci/Dockerfile")
	if !regexp.MustCompile(`(?m)^FROM \S+@sha256:[0-9a-f]{64}$`).MatchString(image) || strings.Contains(image, "safe.directory '*'") {
		t.Error(".ci/Dockerfile: name the image by its digest, and trust no other directory than /site")
	}
	workflow := readFile(t, ".github/workflows/release.yml")
	if !strings.Contains(workflow, "\npermissions: {}\n") || strings.Count(workflow, "secrets.TAP_TOKEN") != 1 || regexp.MustCompile(`npm@\d+\s`).MatchString(workflow) {
		t.Error("release.yml: jobs have their own permissions, the token of the taps is in one job, and npm has a version")
	}
	if strings.Contains(readFile(t, ".goreleaser.yaml"), "TAP_TOKEN") {
		t.Error(".goreleaser.yaml names the token of the taps")
	}
}
