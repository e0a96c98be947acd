package repotest

import (
	"errors"
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

	"github.com/sitelink/sitelink/internal/testkit"
)

// oldPhrases are phrases that once made our prose hard to read, and what to
// write instead. A space matches any white space, so that a phrase may be
// broken over two lines.
var oldPhrases = []struct{ phrase, instead string }{
	{`(is|are|was|were|be) told`, "is notified, is recognised, receives"},
	{`nobody|no-one`, "no one, nothing, or name who"},
	{`(some|any|every)body`, "name who: you, a visitor, a site"},
	{`anew`, "again, or: rewrites, rebuilds"},
	{`speaks where`, "overrides, applies"},
	{`stands? (in the|in a|behind|beside|before|below|above|there|where|at|on)`, "is in, follows, precedes"},
	{`as it stands`, "unchanged, as written"},
	{`whose rules`, "the rules of"},
	{`what there is`, "name it"},
	{`(it|that|this|which|they|these|what) (is|are) none`, "is not one"},
	{`hangs? on`, "depends on"},
	{`for good`, "permanently"},
	{`(tells?|says?) whether`, "reports whether"},
	{`(tells?|says?) apart`, "distinguishes"},
	{`told apart`, "distinguished"},
	{`(that|which|it|what|and) (is|are) no [a-km-z]\w*`, "is not a"},
	{`what lies`, "what is"},
	{`it lies`, "it is"},
	{`l(ies|ie|ay) (in|at|on|beside|below|beneath|behind|there|outside|around)`, "is in"},
	{`(is|are|was|were) said`, "is reported, is documented"},
	{`serves? no more`, "no longer matches, is unused"},
	{`looked up anew`, "looked up again"},
	{`shall`, "must, should, will"},
	{`where the user is silent`, "by default"},
	{`so that of`, "rewrite the sentence"},
	{`one a line|a line each`, "one per line"},
	{`whoever`, "name who"},
	{`(leaves?|left) with [0-9]`, "exits with"},
	{`(mend|mends|mended)`, "fix, repair"},
	{`held against|holds? (it|them|both|all) against`, "compared with"},
	{`round in a circle|goes? round`, "in a loop"},
	{`(of|by|from|as) (what|whatever) it is that`, "rewrite the sentence"},
	{`whence|thereof|therein|hereby|hitherto|thither`, "use a modern word"},
	{`be it`, "whether"},
	{`knows? nothing of`, "does not depend on"},
	{`looks? after`, "manages, inspects"},
	{`who tells|who says`, "name it"},
	{`of old`, "earlier"},
	{`nowhere else`, "only here"},
	{`brings? about`, "causes"},
	{`likewise`, "also, the same"},
	{`foretells?|foretold`, "predicts"},
	{`(it|that|there) was none|(is|are) no more`, "did not exist, no longer exists"},
	{`once more`, "again"},
	{`(in|form) a circle`, "in a loop"},
	{`(is|are|was|were) taken for`, "counts as, is accepted as"},
	{`(is|are) there (once|twice)|what (is|are) not there`, "occurs once, does not exist"},
	{`says? of`, "reports for, writes about"},
	{`told of|without being told`, "name how: reported, without a flag"},
	{`tells? (it|them|the two|\w+ apart) (from|apart)`, "distinguishes"},
	{`to be had`, "available"},
	{`\w*[a-df-z0-9] (is|are) no (url|number|fault|link|letter|part|sign|orphan|error|good|repetition)s?`, "is not a"},
	{`astray`, "to another place"},
	{`wakes? up|as it were|upon`, "use a modern word"},
}

// proseExceptions are sentences that contain an old phrase rightly.
var proseExceptions = []struct{ file, text, reason string }{
	{"internal/repotest/prose_test.go", "", "lists the phrases"},
	{"internal/project/owners_test.go", "@@maintainer nobody", "a word that is not an owner"},
	{"internal/redirect/apache_integration_test.go", "User nobody", "a user of the system"},
	{"internal/project/owners_test.go", "a nobody", "a word that is not an owner"},
}

// TestProse keeps old phrases out of documents, comments, messages and scripts.
func TestProse(t *testing.T) {
	var patterns []*regexp.Regexp
	var all []string
	for _, p := range oldPhrases {
		all = append(all, strings.ReplaceAll(p.phrase, " ", `\s+`))
		patterns = append(patterns, regexp.MustCompile(`^(?:`+all[len(all)-1]+`)\b`))
	}
	anyPhrase := regexp.MustCompile(`\b(?:` + strings.Join(all, "|") + `)\b`)
	names := proseFiles(t)
	for _, name := range names {
		source := readFile(t, name)
		for _, part := range prose(t, name, source) {
			text := strings.ToLower(part.text)
			for _, at := range anyPhrase.FindAllStringIndex(text, -1) {
				offset := part.offset + at[0]
				if proseException(name, source, offset) || strings.Contains(part.text[max(0, at[0]-1):min(len(text), at[1]+1)], "\"nobody\"") {
					continue // the system's user of that name
				}
				i := slices.IndexFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(text[at[0]:]) })
				line := 1 + strings.Count(source[:offset], "\n")
				found := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
				t.Errorf("%s:%d: %q: write %s", name, line, found, oldPhrases[i].instead)
			}
		}
	}
	if len(names) < 200 {
		t.Errorf("only %d files checked", len(names))
	}
}

// proseFiles returns the slash paths of the files that hold prose.
func proseFiles(t *testing.T) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) { // a file of another test
				return nil
			}
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base == ".git" || base == "dist" || name == "examples/site" || name == "examples/blog/content" {
				return fs.SkipDir
			}
			return nil
		}
		inTestdata := strings.Contains(name, "/testdata/")
		switch ext := path.Ext(name); {
		case !entry.Type().IsRegular():
		case inTestdata && ext != ".go" && !strings.Contains(name, "testdata/script/"):
		case ext == ".go", ext == ".md", ext == ".txtar", ext == ".sh", strings.HasPrefix(name, ".ci/"), !strings.Contains(name, "/") && (ext == ".yml" || ext == ".yaml" || name == "Makefile"):
			names = append(names, name)
		}
		return nil
	})
	testkit.Check(t, err)
	return names
}

// proseText is a part of a file that people read, at its byte offset.
type proseText struct {
	offset int
	text   string
}

// prose returns the comments and strings of a Go file, and any other file as a
// whole.
func prose(t *testing.T, name, source string) []proseText {
	t.Helper()
	if path.Ext(name) != ".go" {
		return []proseText{{0, source}}
	}
	fset := token.NewFileSet()
	file := testkit.Must(parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution))(t)
	var parts []proseText
	add := func(node ast.Node, replacer *strings.Replacer) {
		from, to := fset.Position(node.Pos()).Offset, fset.Position(node.End()).Offset
		parts = append(parts, proseText{from, replacer.Replace(source[from:to])})
	}
	// Each replacement has the length of what it replaces.
	comment, literal := strings.NewReplacer("//", "  "), strings.NewReplacer(`\n`, "  ", `\t`, "  ", `\"`, ` "`)
	for _, group := range file.Comments {
		add(group, comment)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			add(lit, literal)
		}
		return true
	})
	return parts
}

func proseException(name, source string, at int) bool {
	for _, e := range proseExceptions {
		if e.file != name {
			continue
		}
		around := strings.Join(strings.Fields(source[max(0, at-200):min(len(source), at+200)]), " ")
		if e.text == "" || strings.Contains(around, e.text) {
			return true
		}
	}
	return false
}
