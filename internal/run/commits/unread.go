package commits

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/hook/githook"
)

// documents are the beginnings of the names of files that describe a project.
var documents = []string{"README", "LICENSE", "LICENCE", "COPYING", "CHANGELOG", "CONTRIBUTING", "CODE_OF_CONDUCT", "AUTHORS"}

// reaches matches what makes a generator read files outside its own directories:
// functions of its templates, mounts, imports of scripts, programs of npm that search
// all files for names of classes, and paths that lead upwards.
const reaches = `readFile|ReadFile|readDir|ReadDir|fileExists|FileExists|os\.Stat|getJSON|getCSV|mounts|[Tt]ailwind|[Pp]ost[Cc][Ss][Ss]|[Bb]abel|` +
	`(import|require|from).*(README|LICEN[CS]E|COPYING|CHANGELOG|CONTRIBUTING|CODE_OF_CONDUCT|AUTHORS)`

// unread returns the paths of a tree that the build of a site in dir cannot read: the
// documents of the project, and other directories of the repository. dir is a slash path
// relative to the root of the repository. unread is for generators that read only
// directories of their own, and returns nothing unless it is certain: what else the build
// can read must be in the tree, and nothing there may reach for other files.
func unread(repo *githook.Repo, dir string) func(ctx context.Context, tree string) ([]string, error) {
	return func(ctx context.Context, tree string) ([]string, error) {
		root, err := repo.Entries(ctx, tree, ".")
		if err != nil {
			return nil, err
		}
		own, err := repo.Entries(ctx, tree, dir)
		if err != nil {
			return nil, err
		}
		// A tree without documents has the same id as one with them.
		names := []string{dir + "/."}
		hasThemes := false
		for _, e := range own {
			switch path.Base(e.Name) {
			case "package.json", "go.mod", "go.work": // modules are elsewhere
				return nil, nil
			case "themes":
				hasThemes = true
			}
			if isDocument(e) {
				names = append(names, e.Name)
			}
		}
		outside := []string{}
		first, _, _ := strings.Cut(dir, "/")
		for _, e := range root {
			switch {
			case e.Name == ".gitmodules": // their files are elsewhere
				return nil, nil
			case dir == ".":
			case isDocument(e), e.Mode == "040000" && e.Name != first && !strings.HasPrefix(e.Name, "."):
				outside = append(outside, e.Name)
			}
		}
		// What is in content can reach other files by a template only.
		within := func(pattern string) string { return ":(top,glob)" + path.Join(escaped(dir), pattern) }
		except := func(pattern string) string { return ":(top,exclude,glob)" + path.Join(escaped(dir), pattern) }
		files := []string{within("**"), except("**/*.md"), except("content/**"), except("static/**")}
		if adapts, err := repo.Greps(ctx, tree, "", within("content/**/*.gotmpl")); err != nil || adapts {
			return nil, err
		}
		if reached, err := repo.Greps(ctx, tree, reaches, files...); err != nil || reached {
			return nil, err
		}
		if !hasThemes { // it may be elsewhere
			if named, err := repo.Greps(ctx, tree, "theme", within("hugo.*"), within("config.*"), within("config/**")); err != nil || named {
				return nil, err
			}
		}
		if len(outside) == 0 {
			return names, nil
		}
		// Styles and scripts leave the directory by two steps at least.
		upwards, err := repo.Greps(ctx, tree, `\.\./\.\.`, files...)
		if err == nil && !upwards {
			upwards, err = repo.Greps(ctx, tree, `\.\.`, append(slices.Clone(files), except("**/assets/**"), except("**/static/**"))...)
		}
		if err == nil && !upwards {
			upwards, err = repo.HasSymlinks(ctx, tree, dir)
		}
		if err == nil && !upwards { // a baseline may be in another directory
			var quoted []string
			for _, name := range outside {
				quoted = append(quoted, regexp.QuoteMeta(name))
			}
			upwards, err = repo.Greps(ctx, tree, strings.Join(quoted, "|"), ":(top,glob)**/sitelink.toml")
		}
		if err != nil || upwards {
			return names, err
		}
		return append(names, outside...), nil
	}
}

// escaped returns a pattern that matches a path literally.
func escaped(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

func isDocument(e githook.TreeEntry) bool {
	isFile := e.Mode == "100644" || e.Mode == "100755"
	return isFile && slices.ContainsFunc(documents, func(start string) bool { return strings.HasPrefix(path.Base(e.Name), start) })
}
