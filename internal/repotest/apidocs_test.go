package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// goBlock is a block of Go code in a document.
var goBlock = regexp.MustCompile("(?m)^```go\n((?:.*\n)*?)```$")

// apiImports are the packages that the examples of the API document may use.
var apiImports = []string{
	"errors", "fmt", "io", "net", "os", "time", "github.com/yuin/goldmark",
	module + "/check", module + "/check/remote", module + "/hook", module + "/hook/githook",
	module + "/incoming", module + "/incoming/export", module + "/incoming/moderation",
	module + "/incoming/server", module + "/incoming/store", module + "/incoming/verify",
	module + "/outgoing", module + "/outgoing/deliver", module + "/outgoing/ledger",
	module + "/outgoing/send", module + "/site", module + "/templates",
}

// TestDocAPICompiles compiles the examples of docs/reference/api.md, one after
// the other in one function, in a module of its own.
func TestDocAPICompiles(t *testing.T) {
	var body strings.Builder
	blocks := goBlock.FindAllStringSubmatch(readFile(t, "docs/reference/api.md"), -1)
	if len(blocks) < 8 {
		t.Fatalf("only %d examples found", len(blocks))
	}
	for _, block := range blocks {
		body.WriteString(block[1])
	}
	var file strings.Builder
	file.WriteString("package api\n\nimport (\n\t\"bytes\"\n\t\"context\"\n")
	for _, name := range apiImports {
		if strings.Contains(body.String(), name[strings.LastIndex(name, "/")+1:]+".") {
			file.WriteString("\t\"" + name + "\"\n")
		}
	}
	file.WriteString(")\n\nfunc example(ctx context.Context, w *bytes.Buffer, text []byte) error {\n\tvar html bytes.Buffer\n" +
		body.String() + "\treturn err\n}\n")

	dir := t.TempDir()
	repository := testkit.Must(filepath.Abs(root))(t)
	mod := strings.ReplaceAll(readFile(t, "internal/repotest/testdata/stranger/go.mod"), "../../../..", filepath.ToSlash(repository))
	for name, text := range map[string]string{"go.mod": mod, "go.sum": readFile(t, "internal/repotest/testdata/stranger/go.sum"), "api.go": file.String()} {
		testkit.Check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	cmd := exec.Command("go", "build", "-mod=mod", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the examples of docs/reference/api.md: %v\n%s", err, out)
	}
}
