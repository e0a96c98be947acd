package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	manual "github.com/sitelink/sitelink/docs"
	"github.com/sitelink/sitelink/internal/testkit"
)

// fenced matches a block of code, quoted what stands in backquotes on one line.
var (
	fenced = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	quoted = regexp.MustCompile("`([^`\n]+)`")
	// goName is pkg.Name or pkg.Type.Name, with what may stand around it.
	goName = regexp.MustCompile(`^(?:\*|\[\])*([a-z][a-z0-9]*)\.([A-Z]\w*)(?:\.(\w+))?(?:\(.*\))?$`)
	// goFile is the bare name of a Go file.
	goFile = regexp.MustCompile(`^[a-z][a-z0-9_]*\.go$`)
)

// documents returns the slash paths, from the root, of the Markdown files that
// people read: everything below docs, and README.md and the like at the root.
func documents(t *testing.T) []string {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"}
	err := fs.WalkDir(os.DirFS(root), "docs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) < 20 {
		t.Fatalf("found %d documents: %v", len(names), err)
	}
	return names
}

// TestDocs: documents rot where code moves. Every file or folder of the
// repository and every exported name of our packages that a document puts in
// backquotes must exist.
func TestDocs(t *testing.T) {
	top := map[string]bool{}
	entries := testkit.Must(os.ReadDir(root))(t)
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != ".git" {
			top[entry.Name()] = true
		}
	}
	exported, files := exportedNames(t), goFiles(t)

	checked := 0
	for _, document := range documents(t) {
		for _, match := range quoted.FindAllStringSubmatch(fenced.ReplaceAllString(readFile(t, document), ""), -1) {
			word := match[1]
			first, _, isPath := strings.Cut(word, "/")
			switch {
			case isPath && top[first] && !strings.HasPrefix(document, "docs/start/") && !strings.ContainsAny(word, " *?<>$"):
				checked++
				if _, err := fs.Stat(os.DirFS(root), path.Clean(word)); err != nil {
					t.Errorf("%s names `%s`, which does not exist", document, word)
				}
			case goFile.MatchString(word):
				checked++
				if !slices.ContainsFunc(files, func(name string) bool { return path.Base(name) == word }) {
					t.Errorf("%s names `%s`; no file has that name", document, word)
				}
			default:
				name := goName.FindStringSubmatch(word)
				if name == nil || exported[name[1]] == nil {
					continue // not a name, or a name of another module's package
				}
				checked++
				if full := strings.TrimSuffix(name[2]+"."+name[3], "."); !exported[name[1]][full] {
					t.Errorf("%s names `%s`; package %s has no %s", document, word, name[1], full)
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d paths and names found in the documents; the test looks at the wrong thing", checked)
	}
}

// exportedNames returns, by package name, the exported functions, types,
// constants and variables of our packages, and Type.Name for their methods and
// fields.
func exportedNames(t *testing.T) map[string]map[string]bool {
	t.Helper()
	names := map[string]map[string]bool{}
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "bench/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, readFile(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		of := names[file.Name.Name]
		if of == nil {
			of = map[string]bool{}
			names[file.Name.Name] = of
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil {
					of[decl.Name.Name] = true
				} else if recv := receiver(decl.Recv.List[0].Type); recv != "" {
					of[recv+"."+decl.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					addSpec(of, spec)
				}
			}
		}
	}
	delete(names, "main") // main.version and the like are for the linker
	return names
}

func addSpec(of map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			of[name.Name] = true
		}
	case *ast.TypeSpec:
		of[spec.Name.Name] = true
		var members *ast.FieldList
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			members = typ.Fields
		case *ast.InterfaceType:
			members = typ.Methods
		default:
			return
		}
		for _, member := range members.List {
			for _, name := range member.Names {
				of[spec.Name.Name+"."+name.Name] = true
			}
		}
	}
}

// receiver returns the name of a method's type, without star and parameters.
func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.IndexListExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}

// mdLink is an inline link of Markdown, with its destination.
var mdLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// mdHeading is a heading of Markdown.
var mdHeading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)

// TestDocLinks: a link from one document to another leads to a file of the
// repository and, with a fragment, to a heading of it.
func TestDocLinks(t *testing.T) {
	checked := 0
	for _, document := range documents(t) {
		for _, match := range mdLink.FindAllStringSubmatch(withoutCode(readFile(t, document)), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			checked++
			name, fragment, _ := strings.Cut(match[1], "#")
			target := path.Join(path.Dir(document), name)
			if name == "" {
				target = document
			}
			if _, err := fs.Stat(os.DirFS(root), target); err != nil {
				t.Errorf("%s links to %s: %v", document, match[1], err)
			} else if fragment != "" && !slices.Contains(headings(readFile(t, target)), fragment) {
				t.Errorf("%s links to %s; %s has no such heading", document, match[1], target)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d links found in the documents", checked)
	}
}

// withoutCode removes code blocks and code spans.
func withoutCode(text string) string {
	return quoted.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
}

// headings returns the fragments of a document's headings, as GitHub makes
// them: lower case, punctuation dropped, hyphens for spaces.
func headings(text string) []string {
	var fragments []string
	for _, match := range mdHeading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		fragments = append(fragments, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, match[1]))
	}
	return fragments
}

// TestDocIndex: docs/index.md links to every document below docs.
func TestDocIndex(t *testing.T) {
	index := readFile(t, "docs/index.md")
	for _, document := range documents(t) {
		if name, ok := strings.CutPrefix(document, "docs/"); ok && name != "index.md" && !strings.Contains(index, "]("+name+"): ") {
			t.Errorf("docs/index.md does not list %s", name)
		}
	}
}

// docPath is the path of a document, as comments and messages name it, and helpOf a page of
// the manual.
var (
	docPath = regexp.MustCompile(`(edit/main/)?\bdocs/[a-z/-]+\.md\b`)
	helpOf  = regexp.MustCompile(`"[^"\n]*sitelink help ([a-z/-]+)`)
)

// TestDocPaths: a document that a comment or message names exists.
func TestDocPaths(t *testing.T) {
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue // they name files of projects
		}
		text := readFile(t, name)
		for _, at := range docPath.FindAllStringSubmatch(text, -1) {
			if _, err := fs.Stat(os.DirFS(root), at[0]); err != nil && at[1] == "" {
				t.Errorf("%s names %s, which does not exist", name, at[0])
			}
		}
		for _, at := range helpOf.FindAllStringSubmatch(text, -1) {
			if _, ok := manual.Page(at[1]); !ok {
				t.Errorf("%s names sitelink help %s, which prints no page", name, at[1])
			}
		}
	}
}
