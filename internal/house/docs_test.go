package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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

// TestDocs: documents rot where code moves. Every file or folder of the
// repository and every exported name of our packages that docs/*.md,
// README.md or CONTRIBUTING.md puts in backquotes must exist.
func TestDocs(t *testing.T) {
	top := map[string]bool{}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != ".git" {
			top[entry.Name()] = true
		}
	}
	exported, files := exportedNames(t), goFiles(t)

	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(documents) == 0 {
		t.Fatalf("no documents found in docs: %v", err)
	}
	documents = append(documents, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"))
	checked := 0
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range quoted.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			word := match[1]
			first, _, isPath := strings.Cut(word, "/")
			switch {
			case isPath && top[first] && !strings.ContainsAny(word, " *?<>$"):
				checked++
				if _, err := fs.Stat(os.DirFS(root), path.Clean(word)); err != nil {
					t.Errorf("%s names `%s`, which does not exist", filepath.Base(document), word)
				}
			case goFile.MatchString(word):
				checked++
				if !slices.ContainsFunc(files, func(name string) bool { return path.Base(name) == word }) {
					t.Errorf("%s names `%s`; no file has that name", filepath.Base(document), word)
				}
			default:
				name := goName.FindStringSubmatch(word)
				if name == nil || exported[name[1]] == nil {
					continue // no name, or a name of somebody else's package
				}
				checked++
				if full := strings.TrimSuffix(name[2]+"."+name[3], "."); !exported[name[1]][full] {
					t.Errorf("%s names `%s`; package %s has no %s", filepath.Base(document), word, name[1], full)
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
