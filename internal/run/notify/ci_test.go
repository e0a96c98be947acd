package notify

import (
	"os"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestPreviewBuild has what each builder sets for the site itself and for its previews.
func TestPreviewBuild(t *testing.T) {
	cases := map[string]struct {
		builds   string   // what its builds have besides
		site     []string // separate environments
		previews []string
	}{
		"AppVeyor":      {"CI=True", []string{"APPVEYOR=True"}, []string{"APPVEYOR_PULL_REQUEST_NUMBER=7"}},
		"AWS Amplify":   {"AWS_APP_ID=d1", []string{"AWS_BRANCH=main"}, []string{"AWS_BRANCH=pr-7 AWS_PULL_REQUEST_ID=7", "AWS_BRANCH=dev"}},
		"AWS CodeBuild": {"CODEBUILD_BUILD_ID=a:b", []string{"CODEBUILD_WEBHOOK_EVENT=PUSH", "CODEBUILD_WEBHOOK_EVENT=PULL_REQUEST_MERGED"}, []string{"CODEBUILD_WEBHOOK_EVENT=PULL_REQUEST_UPDATED"}},
		"Azure Pipelines": {"TF_BUILD=True", []string{"BUILD_REASON=IndividualCI", "BUILD_REASON=Manual", "BUILD_REASON=Schedule"},
			[]string{"BUILD_REASON=PullRequest", "SYSTEM_PULLREQUEST_PULLREQUESTID=7"}},
		"Bitbucket Pipelines":       {"CI=true", []string{"BITBUCKET_BRANCH=main"}, []string{"BITBUCKET_PR_ID=7"}},
		"Bitrise":                   {"CI=true", []string{"BITRISE_PULL_REQUEST="}, []string{"BITRISE_PULL_REQUEST=7"}},
		"Buddy":                     {"BUDDY_WORKSPACE_ID=1", []string{"BUDDY_EXECUTION_PULL_REQUEST_ID="}, []string{"BUDDY_EXECUTION_PULL_REQUEST_ID=pull/7"}},
		"Buildkite":                 {"CI=true", []string{"BUILDKITE_PULL_REQUEST=false"}, []string{"BUILDKITE_PULL_REQUEST=7"}},
		"CircleCI":                  {"CI=true", []string{"CIRCLE_BRANCH=main"}, []string{"CIRCLE_PULL_REQUEST=https://github.com/o/r/pull/7", "CIRCLE_PR_NUMBER=7"}},
		"Cirrus CI":                 {"CI=true", []string{"CIRRUS_BRANCH=main"}, []string{"CIRRUS_PR=7"}},
		"Cloudflare Pages":          {"CF_PAGES=1", []string{"CF_PAGES_BRANCH=main", "CF_PAGES_BRANCH=master"}, []string{"CF_PAGES_BRANCH=new-post"}},
		"Cloudflare Workers Builds": {"WORKERS_CI=1", []string{"WORKERS_CI_BRANCH=main"}, []string{"WORKERS_CI_BRANCH=new-post"}},
		"Drone":                     {"CI=true", []string{"DRONE_BUILD_EVENT=push", "DRONE_BUILD_EVENT=cron"}, []string{"DRONE_BUILD_EVENT=pull_request", "DRONE_PULL_REQUEST=7"}},
		"GitHub Actions": {"CI=true GITHUB_ACTIONS=true", []string{"GITHUB_EVENT_NAME=push", "GITHUB_EVENT_NAME=schedule", "GITHUB_EVENT_NAME=workflow_dispatch", "GITHUB_EVENT_NAME=workflow_run"},
			[]string{"GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_NAME=pull_request_target", "GITHUB_EVENT_NAME=merge_group"}},
		"GitLab CI": {"CI=true GITLAB_CI=true", []string{"CI_PIPELINE_SOURCE=push", "CI_PIPELINE_SOURCE=schedule", "CI_PIPELINE_SOURCE=web"},
			[]string{"CI_PIPELINE_SOURCE=merge_request_event", "CI_MERGE_REQUEST_IID=7", "CI_EXTERNAL_PULL_REQUEST_IID=7", "CI_PIPELINE_SOURCE=external_pull_request_event"}},
		"Jenkins": {"JENKINS_URL=https://ci.example/", []string{"BRANCH_NAME=main"}, []string{"CHANGE_ID=7", "ghprbPullId=7"}},
		"Netlify": {"CI=true NETLIFY=true", []string{"CONTEXT=production PULL_REQUEST=false"},
			[]string{"CONTEXT=deploy-preview", "CONTEXT=branch-deploy", "CONTEXT=preview-server", "CONTEXT=dev"}},
		"Read the Docs": {"READTHEDOCS=True", []string{"READTHEDOCS_VERSION_TYPE=branch", "READTHEDOCS_VERSION_TYPE=tag"}, []string{"READTHEDOCS_VERSION_TYPE=external"}},
		"Render":        {"RENDER=true", []string{"IS_PULL_REQUEST=false"}, []string{"IS_PULL_REQUEST=true"}},
		"Semaphore":     {"CI=true", []string{"SEMAPHORE_GIT_REF_TYPE=branch"}, []string{"SEMAPHORE_GIT_PR_NUMBER=7", "SEMAPHORE_GIT_REF_TYPE=pull-request"}},
		"TeamCity":      {"TEAMCITY_VERSION=2026.1", []string{"BUILD_NUMBER=7"}, nil},
		"Travis CI":     {"CI=true", []string{"TRAVIS_PULL_REQUEST=false"}, []string{"TRAVIS_PULL_REQUEST=7"}},
		"Vercel":        {"VERCEL=1", []string{"VERCEL_ENV=production"}, []string{"VERCEL_ENV=preview", "VERCEL_ENV=development"}},
		"Woodpecker": {"CI=woodpecker", []string{"CI_PIPELINE_EVENT=push", "CI_PIPELINE_EVENT=cron"},
			[]string{"CI_PIPELINE_EVENT=pull_request", "CI_PIPELINE_EVENT=pull_request_metadata", "CI_BUILD_EVENT=pull_request"}},
	}
	p := &project.Project{Root: t.TempDir()}
	for _, b := range builders {
		c, ok := cases[b.name]
		if !ok || len(c.site) == 0 || (len(c.previews) == 0) != (len(b.previews) == 0) {
			t.Errorf("%s: no cases for it", b.name)
		}
		if !InCI(words(c.builds)) {
			t.Errorf("%s: %s does not count as CI", b.name, c.builds)
		}
		for _, list := range c.site {
			if why := PreviewBuild(t.Context(), p, words(c.builds+" "+list)); why != "" {
				t.Errorf("%s: %s counts as a preview: %s", b.name, list, why)
			}
		}
		seen := map[string]bool{}
		for _, list := range c.previews {
			why := PreviewBuild(t.Context(), p, words(c.builds+" "+list))
			if !strings.HasSuffix(why, " ("+b.name+")") {
				t.Errorf("%s: %s: %q", b.name, list, why)
			}
			name, _, _ := strings.Cut(why, "=")
			seen[name] = true
		}
		for _, v := range b.previews {
			if !seen[v.name] {
				t.Errorf("%s: no case for %s", b.name, v.name)
			}
		}
	}
	for _, none := range []string{"", "CI=false", "CI=0"} {
		if InCI(words(none)) || PreviewBuild(t.Context(), p, words(none)) != "" {
			t.Errorf("%q counts as CI", none)
		}
	}
}

// TestDefaultBranch: a clone knows the default branch of its remote, under any name.
func TestDefaultBranch(t *testing.T) {
	origin, dir := t.TempDir(), t.TempDir()
	testkit.Git(t, origin, "init", "--quiet", "--initial-branch=live")
	testkit.Git(t, origin, "commit", "--quiet", "--allow-empty", "--message=first")
	testkit.Git(t, dir, "clone", "--quiet", origin, ".")
	p := testkit.Must(project.Find(t.Context(), dir, project.Options{Env: os.Environ()}))(t)
	for list, preview := range map[string]string{
		"CF_PAGES_BRANCH=live": "",
		"CF_PAGES_BRANCH=main": "CF_PAGES_BRANCH=main, not live (Cloudflare Pages)",
	} {
		if why := PreviewBuild(t.Context(), p, words(list)); why != preview {
			t.Errorf("%s: %q", list, why)
		}
	}
}

// words returns the lookup of an environment such as "NETLIFY=true CONTEXT=production".
func words(list string) func(string) string { return environment(strings.Fields(list)...) }
