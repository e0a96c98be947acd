package repotest

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// publicRoots are the directories of the packages that other modules use.
var publicRoots = []string{"site", "check", "outgoing", "incoming", "templates", "hook"}

// TestPublicAPI: no exported declaration of a public package mentions a type
// that a program outside of this module cannot name: one of an internal
// package, or an unexported one.
func TestPublicAPI(t *testing.T) {
	packages, load := exportData(t)
	for _, path := range packages {
		pkg := testkit.Must(load(path))(t)
		for _, f := range unnameable(pkg) {
			t.Errorf("%s: %s", strings.TrimPrefix(path, module+"/"), f)
		}
	}
}

// TestPublicDocs: every public package has its documentation in doc.go, and an
// Example that go doc shows.
func TestPublicDocs(t *testing.T) {
	packages, _ := exportData(t)
	for _, path := range packages {
		short := strings.TrimPrefix(path, module+"/")
		if missing := missingDocs(t, filepath.Join(root, filepath.FromSlash(short))); len(missing) > 0 {
			t.Errorf("%s has no %s", short, strings.Join(missing, " and no "))
		}
	}
}

// missingDocs returns which of doc.go and Example a package lacks.
func missingDocs(t *testing.T, dir string) (missing []string) {
	if file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "doc.go"), nil, parser.ParseComments); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	} else if err != nil || file.Doc == nil {
		missing = append(missing, "doc.go with a package comment")
	}
	tests := testkit.Must(filepath.Glob(filepath.Join(dir, "*_test.go")))(t)
	for _, name := range tests {
		file := testkit.Must(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example") {
				return missing
			}
		}
	}
	return append(missing, "Example")
}

// exportData returns the import paths of the public packages, and a function
// that loads one from what the compiler exported.
func exportData(t *testing.T) (public []string, load func(path string) (*types.Package, error)) {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for _, dir := range publicRoots {
		args = append(args, "./"+dir+"/...")
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
		for _, dir := range publicRoots {
			in := module + "/" + dir
			if (p.ImportPath == in || strings.HasPrefix(p.ImportPath, in+"/")) && !isInternal(p.ImportPath) {
				public = append(public, p.ImportPath)
			}
		}
	}
	if len(public) < len(publicRoots) {
		t.Fatalf("go list found the public packages %q, there are more", public)
	}
	slices.Sort(public)
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	return public, importer.ForCompiler(token.NewFileSet(), "gc", lookup).Import
}

func isInternal(path string) bool { return strings.Contains("/"+path+"/", "/internal/") }

// unnameable returns the exported declarations of a package that mention a type
// that other modules cannot name, each with that type.
func unnameable(pkg *types.Package) []string {
	var found []string
	check := func(what string, t types.Type) {
		m := mentions{seen: map[types.Type]bool{}}
		m.walk(t)
		for _, name := range m.bad {
			found = append(found, what+" mentions "+name)
		}
	}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		tn, isType := o.(*types.TypeName)
		switch {
		case !isType:
			check(name, o.Type())
		case tn.IsAlias():
			check("type "+name, types.Unalias(o.Type()))
		default:
			check("type "+name, o.Type().Underlying())
			if params := o.Type().(*types.Named).TypeParams(); params != nil {
				for p := range params.TypeParams() {
					check("type "+name, p.Constraint())
				}
			}
			methods := types.NewMethodSet(types.NewPointer(o.Type()))
			for m := range methods.Methods() {
				if _, isInterface := o.Type().Underlying().(*types.Interface); m.Obj().Exported() && !isInterface {
					check(fmt.Sprintf("%s.%s", name, m.Obj().Name()), m.Obj().Type())
				}
			}
		}
	}
	return found
}

// mentions collects the types of a declaration that other modules cannot name.
type mentions struct {
	seen map[types.Type]bool
	bad  []string
}

func (m *mentions) walk(t types.Type) {
	if t == nil || m.seen[t] {
		return
	}
	m.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		m.object(t.Obj())
		m.walk(types.Unalias(t))
	case *types.Named:
		m.object(t.Obj())
		for a := range t.TypeArgs().Types() {
			m.walk(a)
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				m.walk(f.Type())
			}
		}
	case *types.Interface:
		for f := range t.ExplicitMethods() {
			if f.Exported() {
				m.walk(f.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			m.walk(e)
		}
	case *types.Signature:
		m.walk(t.Params())
		m.walk(t.Results())
		for p := range t.TypeParams().TypeParams() {
			m.walk(p.Constraint())
		}
	case *types.Tuple:
		for v := range t.Variables() {
			m.walk(v.Type())
		}
	case *types.Map:
		m.walk(t.Key())
		m.walk(t.Elem())
	case *types.Union:
		for term := range t.Terms() {
			m.walk(term.Type())
		}
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		m.walk(t.Elem())
	}
}

// object notes the name of a type if other modules cannot use it.
func (m *mentions) object(o *types.TypeName) {
	if pkg := o.Pkg(); pkg != nil && (!o.Exported() || isInternal(pkg.Path())) {
		m.bad = append(m.bad, strings.TrimPrefix(pkg.Path(), module+"/")+"."+o.Name())
	}
}
