package notify

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/project"
)

// A builder is a CI service, or a host that builds sites, as far as the environment of
// its builds shows it.
type builder struct {
	name string
	// is are variables that every build has, not empty. Those with a row but without them
	// set CI.
	is []string
	// previews are variables that show that what is built is not for the site's readers:
	// a pull or merge request, or a branch.
	previews []variable
}

// variable is a variable of the environment and its values that matter: patterns of
// path.Match, or with ! in front those that do not. A value that is "" or "false" never
// matters, and with no pattern any other does.
type variable struct {
	name     string
	patterns string // separated by spaces
	// branch means that all values matter but the default branch of the repository.
	branch bool
}

// builders is the table of builders, from what they and their users have published.
// Forgejo and Gitea set the variables of GitHub.
var builders = []builder{
	{"AppVeyor", nil, []variable{{name: "APPVEYOR_PULL_REQUEST_NUMBER"}}},
	{"AWS Amplify", []string{"AWS_APP_ID"}, []variable{{name: "AWS_PULL_REQUEST_ID"}, {name: "AWS_BRANCH", branch: true}}},
	{"AWS CodeBuild", []string{"CODEBUILD_BUILD_ID"}, []variable{{name: "CODEBUILD_WEBHOOK_EVENT", patterns: "PULL_REQUEST_CREATED PULL_REQUEST_UPDATED PULL_REQUEST_REOPENED PULL_REQUEST_CLOSED"}}},
	{"Azure Pipelines", []string{"TF_BUILD"}, []variable{{name: "BUILD_REASON", patterns: "PullRequest"}, {name: "SYSTEM_PULLREQUEST_PULLREQUESTID"}}},
	{"Bitbucket Pipelines", nil, []variable{{name: "BITBUCKET_PR_ID"}}},
	{"Bitrise", nil, []variable{{name: "BITRISE_PULL_REQUEST"}}},
	{"Buddy", []string{"BUDDY_WORKSPACE_ID"}, []variable{{name: "BUDDY_EXECUTION_PULL_REQUEST_ID"}}},
	{"Buildkite", nil, []variable{{name: "BUILDKITE_PULL_REQUEST"}}},
	{"CircleCI", nil, []variable{{name: "CIRCLE_PULL_REQUEST"}, {name: "CIRCLE_PR_NUMBER"}}},
	{"Cirrus CI", nil, []variable{{name: "CIRRUS_PR"}}},
	{"Cloudflare Pages", []string{"CF_PAGES"}, []variable{{name: "CF_PAGES_BRANCH", branch: true}}},
	{"Cloudflare Workers Builds", []string{"WORKERS_CI"}, []variable{{name: "WORKERS_CI_BRANCH", branch: true}}},
	{"Drone", nil, []variable{{name: "DRONE_BUILD_EVENT", patterns: "pull_request"}, {name: "DRONE_PULL_REQUEST"}}},
	// pull_request_target and the others run with the secrets of the repository.
	{"GitHub Actions", nil, []variable{{name: "GITHUB_EVENT_NAME", patterns: "pull_request* merge_group"}}},
	{"GitLab CI", nil, []variable{{name: "CI_MERGE_REQUEST_IID"}, {name: "CI_EXTERNAL_PULL_REQUEST_IID"}, {name: "CI_PIPELINE_SOURCE", patterns: "merge_request_event external_pull_request_event"}}},
	{"Jenkins", []string{"JENKINS_URL"}, []variable{{name: "CHANGE_ID"}, {name: "ghprbPullId"}}},
	{"Netlify", []string{"NETLIFY"}, []variable{{name: "CONTEXT", patterns: "deploy-preview branch-deploy preview-server dev"}}},
	{"Read the Docs", []string{"READTHEDOCS"}, []variable{{name: "READTHEDOCS_VERSION_TYPE", patterns: "external"}}},
	{"Render", []string{"RENDER"}, []variable{{name: "IS_PULL_REQUEST"}}},
	{"Semaphore", nil, []variable{{name: "SEMAPHORE_GIT_PR_NUMBER"}, {name: "SEMAPHORE_GIT_REF_TYPE", patterns: "pull-request"}}},
	{"TeamCity", []string{"TEAMCITY_VERSION"}, nil},
	{"Travis CI", nil, []variable{{name: "TRAVIS_PULL_REQUEST"}}},
	{"Vercel", []string{"VERCEL"}, []variable{{name: "VERCEL_ENV", patterns: "!production"}}},
	{"Woodpecker", nil, []variable{{name: "CI_PIPELINE_EVENT", patterns: "pull_request*"}, {name: "CI_BUILD_EVENT", patterns: "pull_request*"}}},
}

// InCI reports whether an environment belongs to a build by a service. The machine of
// such a build may be gone after it.
func InCI(getenv func(string) string) bool {
	return isOn(getenv("CI")) || slices.ContainsFunc(builders, func(b builder) bool {
		return slices.ContainsFunc(b.is, func(name string) bool { return isOn(getenv(name)) })
	})
}

// isOn reports whether the value of a variable stands for yes.
func isOn(value string) bool {
	return value != "" && value != "0" && !strings.EqualFold(value, "false")
}

// PreviewBuild says why an environment is that of the build of a preview, such as
// "CONTEXT=deploy-preview (Netlify)"; it returns "" if it is not.
func PreviewBuild(ctx context.Context, p *project.Project, getenv func(string) string) string {
	for _, b := range builders {
		for _, v := range b.previews {
			value := getenv(v.name)
			if value == "" || strings.EqualFold(value, "false") {
				continue
			}
			matters := v.patterns == ""
			for pattern := range strings.FieldsSeq(v.patterns) {
				pattern, not := strings.CutPrefix(pattern, "!")
				matched, _ := path.Match(pattern, value)
				matters = matters || matched != not
			}
			why := v.name + "=" + value
			if v.branch {
				usual := git.DefaultBranches(ctx, p.Root, p.Env())
				matters = !slices.Contains(usual, value)
				why += ", not " + strings.Join(usual, " or ")
			}
			if matters {
				return why + " (" + b.name + ")"
			}
		}
	}
	return ""
}
