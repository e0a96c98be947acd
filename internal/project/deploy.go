package project

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// claim is what a file says about one site: publish is what is published and where,
// build how it is made. moves means that commands move what was built.
type claim struct {
	publish, build []Evidence
	moves          bool
}

// docroot returns the directory that a claim publishes, "" if it does not say.
func (c *claim) docroot() string {
	for _, e := range slices.Concat(c.publish, c.build) {
		if e.Question == AskDocroot {
			return e.Value
		}
	}
	return ""
}

// settle returns the evidence of those claims that are about this site. If they publish
// several directories, the first that is built counts, and the others are contradictions.
func (s *survey) settle(claims []*claim) (all []Evidence) {
	claims = slices.DeleteFunc(claims, func(c *claim) bool { return len(c.publish)+len(c.build) == 0 || !s.about(c) })
	docroot := s.Answers[AskDocroot].Value
	is := func(want string) func(*claim) bool { return func(c *claim) bool { return c.docroot() == want } }
	switch i := slices.IndexFunc(claims, func(c *claim) bool { return isDirectory(c.docroot()) }); {
	case s.named && !slices.ContainsFunc(claims, is(docroot)):
		docroot = "" // it is another copy of what is published
	case docroot != "":
	case i >= 0:
		docroot = claims[i].docroot()
	default:
		if i := slices.IndexFunc(claims, func(c *claim) bool { return c.docroot() != "" }); i >= 0 {
			docroot = claims[i].docroot()
		}
	}
	for _, c := range claims {
		own := c.docroot()
		for i, e := range slices.Concat(c.publish, c.build) {
			switch {
			case e.Question == AskDocroot && i >= len(c.publish) && e.Value != own:
				s.moved = s.moved || c.moves && own == docroot
			case e.Question == AskDocroot && e.Value == docroot && len(all) > 0:
				all = slices.Insert(all, 0, e)
			case e.Question == AskDocroot || own == "" || docroot == "" || own == docroot:
				all = append(all, e)
			}
		}
	}
	return all
}

// about reports whether a claim can be about the site of the project in s.own: it names no
// place, or one in that project.
func (s *survey) about(c *claim) bool {
	places := 0
	for _, e := range slices.Concat(c.publish, c.build) {
		at := e.Dir
		if e.Question == AskDocroot {
			at = e.Value
		} else if e.Question != AskGenerator {
			continue
		}
		places++
		if rel, err := filepath.Rel(s.own, at); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return places == 0
}

// dirOf returns the absolute path of a directory that a file names, seen from dir; "" if it
// has a variable or is not in the repository.
func (s *survey) dirOf(dir, name string) string {
	name = strings.NewReplacer("${{ github.workspace }}", ".", "${{github.workspace}}", ".", "$GITHUB_WORKSPACE", ".", "${GITHUB_WORKSPACE}", ".",
		"$CI_PROJECT_DIR", ".", "${CI_PROJECT_DIR}", ".", "$(pwd)", ".", "$PWD", ".", "/**/*", "", "/**", "", "/*", "", `\`, "/").Replace(strings.TrimSpace(name))
	if name == "" || strings.ContainsAny(name, "$*{~`\n") {
		return ""
	}
	full := filepath.Join(dir, filepath.FromSlash(name)) // a slash at the start is the project
	if _, where := system.Outside(s.rootFor(dir), full); where != "" {
		return ""
	}
	return full
}

// say adds what a value of a file says: a directory as seen from dir, a command, or a text.
func (s *survey) say(list *[]Evidence, q Question, v value, file, dir string) {
	said := v.text()
	switch q {
	case AskDocroot:
		said = s.dirOf(dir, said)
	case AskBuild:
		said = strings.TrimSpace(v.lines())
	}
	if said != "" {
		*list = append(*list, Evidence{Question: q, Value: said, Dir: dir, File: file, Line: v.line(), Words: strings.TrimSpace(v.text())})
	}
}

// deployed is what the files say that tell hosts what to publish: those of the nearest
// directory that has one about this site.
func (s *survey) deployed() (all []Evidence) {
	for _, dir := range s.dirs {
		if all = s.settle(s.deploys(dir)); len(all) > 0 {
			break
		}
	}
	return all
}

// deploys reads the deploy files of a directory.
func (s *survey) deploys(dir string) (claims []*claim) {
	for kind, f := range host.Each(func(k *host.Kind) []host.DeployFile { return k.Deploys }) {
		for base := range strings.FieldsSeq(f.Names) {
			name := filepath.Join(dir, filepath.FromSlash(base))
			v, ok := s.document(name)
			if !ok {
				continue
			}
			sites := []value{v}
			if f.Sites != "" {
				if sites = v.get(f.Sites).list(); len(sites) > 0 && sites[0].node == nil {
					continue
				}
			}
			for _, v := range sites {
				if f.Only == "" || v.get(f.Only).node != nil {
					claims = append(claims, s.claimOf(kind, &f, name, dir, v))
				}
			}
		}
	}
	return claims
}

// claimOf reads what a deploy file in or below a directory says about one site.
func (s *survey) claimOf(kind string, f *host.DeployFile, name, dir string, v value) *claim {
	c := &claim{publish: []Evidence{{Question: AskHost, Value: kind, File: name}}}
	if f.Command != nil {
		if words, keys := f.Command(func(key string) string { return v.get(key).text() }); words != nil {
			s.run(c, words, place{name, v.get(keys).line(), dir}, 0)
		}
	}
	if f.Steps != "" {
		s.steps(c, v.get(f.Steps), place{name, 0, dir}, dir, 0)
	}
	base := dir
	if sub := v.get(f.Dir).text(); sub != "" {
		if base = s.dirOf(dir, sub); base == "" {
			return &claim{}
		}
	}
	// Some write what is published as seen from base, others from the file or the repository.
	publish, from := v.get(f.Docroot), base
	if !isDirectory(s.dirOf(base, publish.text())) {
		for _, up := range []string{s.Root, dir} {
			said := s.dirOf(up, publish.text())
			if rel, err := filepath.Rel(base, said); up != base && said != "" && err == nil && filepath.IsLocal(rel) {
				from = up
			}
		}
	}
	s.say(&c.publish, AskDocroot, publish, name, from)
	s.say(&c.publish, AskForm, formSetting(v), name, base)
	build := v.get(f.Build)
	s.say(&c.build, AskBuild, build, name, base)
	for i := range c.build {
		c.build[i].Value = ownSteps().ReplaceAllString(c.build[i].Value, "")
	}
	s.commands(c, build, name, base, 0)
	return c
}

// ownSteps matches what sitelink init adds to a command that builds: a check after it, and
// the variable that tells a plugin to leave the check to this step.
var ownSteps = text.Regexp(`^SITELINK_OUT=\S+ +| *&& *[^&;|]*\bsitelink(?:@\S+)? check\b[^&;|]*$`)

// formSetting returns the form of addresses that the settings of a host ask for, as a value at
// the line of the setting.
func formSetting(v value) value {
	form, at := weburl.Form(""), v.get("trailingSlash cleanUrls assets.html_handling")
	slash := v.get("trailingSlash").text()
	switch {
	case slash == "true", slash == "always", at.text() == "force-trailing-slash":
		form = weburl.SlashForm
	case v.get("cleanUrls").text() == "true", slash == "never", at.text() == "drop-trailing-slash":
		form = weburl.BareForm
	}
	return at.with(string(form))
}

// CIFiles are the files of CI servers, and directories of such files.
var CIFiles = []string{
	".github/workflows", ".forgejo/workflows", ".gitea/workflows", ".gitlab-ci.yml", ".gitlab", ".circleci/config.yml", ".travis.yml", "azure-pipelines.yml",
	"bitbucket-pipelines.yml", ".woodpecker.yml", ".woodpecker.yaml", ".woodpecker", ".builds", ".build.yml",
}

// workflows is what the jobs of CI servers publish. A file that publishes nothing says
// nothing: it may build anything.
func (s *survey) workflows() (all []Evidence) {
	for _, dir := range s.dirs {
		var claims []*claim
		for _, name := range CIFiles {
			full := filepath.Join(dir, filepath.FromSlash(name))
			names := []string{full}
			if entries, err := os.ReadDir(full); err == nil {
				names = nil
				for _, e := range entries[:min(len(entries), maxFiles)] {
					names = append(names, filepath.Join(full, e.Name()))
				}
			}
			for _, name := range names {
				if ext := filepath.Ext(name); ext != ".yml" && ext != ".yaml" {
					continue
				}
				v, _ := s.document(name)
				c := &claim{}
				s.steps(c, v, place{name, 0, dir}, dir, 0)
				if len(c.publish) > 0 {
					claims = append(claims, c)
				}
			}
		}
		for _, name := range []string{"hugo.toml", "hugo.yaml", "config.toml", "config.yaml"} { // hugo deploy
			name = filepath.Join(dir, name)
			v, _ := s.document(name)
			for _, target := range v.get("deployment.targets").list() {
				url := target.get("url URL")
				for _, k := range host.Kinds() {
					if k.HugoTarget != "" && strings.HasPrefix(url.text(), k.HugoTarget) {
						claims = append(claims, &claim{publish: []Evidence{{Question: AskHost, Value: k.Name, File: name, Line: url.line(), Words: url.text()}}})
					}
				}
			}
		}
		if all = s.settle(claims); len(all) > 0 {
			break
		}
	}
	return all
}

// maxDepth bounds how deep jobs nest, and how often a command calls another of the project.
const maxDepth = 12

// steps reads what a job of a CI server does: any table with the commands or the action of a
// step. at.dir is where commands run; inputs of actions are relative to top.
func (s *survey) steps(c *claim, v value, at place, top string, depth int) {
	if depth > maxDepth || v.node == nil {
		return
	}
	if sub := cmp.Or(v.get("working-directory").text(), v.get("defaults.run.working-directory").text()); sub != "" {
		if at.dir = s.dirOf(at.dir, sub); at.dir == "" {
			return
		}
	}
	uses := v.get("uses")
	for kind, a := range host.Each(func(k *host.Kind) []host.Action { return k.Actions }) {
		if !strings.HasPrefix(uses.text(), a.Uses) {
			continue
		}
		dir := top
		input := func(keys string) value {
			if in := v.get("with").get(keys); in.node != nil {
				return in
			}
			return v.get("env").get(keys)
		}
		c.publish = append(c.publish, Evidence{Question: AskHost, Value: kind, File: at.file, Line: uses.line(), Words: uses.text()})
		if sub := input(a.Dir).text(); sub != "" {
			dir = s.dirOf(top, sub)
		}
		docroot := input(a.Docroot)
		if docroot.text() == "" && a.Usual != "" {
			docroot = uses.with(a.Usual)
		}
		if dir != "" {
			s.say(&c.publish, AskDocroot, docroot, at.file, dir)
		}
		if name := input(a.CName); isHostName(name.text()) {
			s.say(&c.publish, AskBase, name.with("https://"+name.text()+"/"), at.file, dir)
		}
	}
	for _, key := range []string{"before_script", "run", "script", "commands", "command"} {
		s.commands(c, v.get(key), at.file, at.dir, 0)
	}
	v.each(func(key string, member value) {
		for kind, job := range host.Each(func(k *host.Kind) []host.Job { return k.Jobs }) {
			if key != job.Name || filepath.Base(at.file) != job.File || member.get("script").node == nil {
				continue
			}
			c.publish = append(c.publish, Evidence{Question: AskHost, Value: kind, File: at.file, Line: member.line(), Words: key})
			docroot := member.get(job.Docroot).list()[0]
			if docroot.text() == "" {
				docroot = member.with(job.Usual)
			}
			s.say(&c.publish, AskDocroot, docroot, at.file, top)
		}
		for _, one := range member.list() {
			s.steps(c, one, at, top, depth+1)
		}
	})
}

// isHostName reports whether a text can be the host name of a site.
func isHostName(name string) bool {
	return strings.Contains(name, ".") && len(name) <= 253 && !strings.ContainsAny(name, " \t\r\n/:$")
}
