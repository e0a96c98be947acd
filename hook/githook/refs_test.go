package githook

import (
	"reflect"
	"strings"
	"testing"
)

const (
	sha1A   = "1111111111111111111111111111111111111111"
	sha1Nil = "0000000000000000000000000000000000000000"
)

// githooks(5), pre-push.
func TestReadRefs(t *testing.T) {
	sha256A, sha256Nil, long := strings.Repeat("ab", 32), strings.Repeat("0", 64), strings.Repeat("a", 100<<10)
	for _, test := range []struct {
		name, in string
		want     []Ref
		err      string
	}{
		{name: "nothing is pushed", in: ""},
		{name: "an update", in: "refs/heads/main " + sha1A + " refs/heads/main " + sha1A + "\n",
			want: []Ref{{Local: "refs/heads/main", Commit: sha1A, Remote: "refs/heads/main", Before: sha1A}}},
		{name: "a new branch", in: "refs/heads/main " + sha1A + " refs/heads/new " + sha1Nil + "\n",
			want: []Ref{{Local: "refs/heads/main", Commit: sha1A, Remote: "refs/heads/new"}}},
		{name: "a deletion", in: "(delete) " + sha1Nil + " refs/heads/old " + sha1A + "\n",
			want: []Ref{{Local: "(delete)", Remote: "refs/heads/old", Before: sha1A}}},
		{name: "SHA-256", in: "HEAD " + sha256A + " refs/heads/main " + sha256Nil + "\n",
			want: []Ref{{Local: "HEAD", Commit: sha256A, Remote: "refs/heads/main"}}},
		{name: "a local name with spaces", in: "HEAD@{1 day ago} " + sha1A + " refs/heads/main " + sha1Nil,
			want: []Ref{{Local: "HEAD@{1 day ago}", Commit: sha1A, Remote: "refs/heads/main"}}},
		{name: "several", in: "a " + sha1A + " refs/heads/a " + sha1Nil + "\nb " + sha1A + " refs/tags/b " + sha1Nil + "\n",
			want: []Ref{{Local: "a", Commit: sha1A, Remote: "refs/heads/a"}, {Local: "b", Commit: sha1A, Remote: "refs/tags/b"}}},
		{name: "an empty line", in: "\na " + sha1A + " refs/heads/a " + sha1Nil + "\n\n", want: []Ref{{Local: "a", Commit: sha1A, Remote: "refs/heads/a"}}},
		{name: "no remote name", in: "a " + sha1A + "  " + sha1A, err: "standard input:1: the remote ref has no name"},
		{name: "a wrong second id", in: "a " + sha1A + " refs/heads/a x\n", err: `"x" is not an object id`},
		{name: "a large id", in: "a " + sha1A + " refs/heads/a " + sha1A[1:] + "A\n", err: "is not an object id"},
		{name: "too few words", in: "a b c\n", err: "standard input:1: not a line that git writes to a pre-push hook"},
		{name: "an option for an id", in: "a --output=/tmp/" + strings.Repeat("x", 25) + " refs/heads/a " + sha1A, err: "is not an object id"},
		{name: "a short id", in: "a 1111 refs/heads/a " + sha1A, err: `"1111" is not an object id`},
		{name: "a long name", in: long + " " + sha1A + " refs/heads/a " + sha1Nil, want: []Ref{{Local: long, Commit: sha1A, Remote: "refs/heads/a"}}},
		{name: "an endless line", in: strings.Repeat("x", maxRefLine+1), err: "standard input: bufio.Scanner: token too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadRefs(strings.NewReader(test.in))
			switch {
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("error %v, want %q", err, test.err)
			case test.err == "" && err != nil:
				t.Error(err)
			case test.err == "" && !reflect.DeepEqual(got, test.want):
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		remote, commit string
		branches       []string
		want           bool
	}{
		{"refs/heads/main", sha1A, nil, true},
		{"refs/heads/a/b", sha1A, nil, true},
		{"refs/heads/main", "", nil, false},
		{"refs/tags/v1", sha1A, nil, false},
		{"refs/notes/commits", sha1A, nil, false},
		{"refs/heads/main", sha1A, []string{"release-*", "main"}, true},
		{"refs/heads/release-2", sha1A, []string{"release-*"}, true},
		{"refs/heads/gh-pages", sha1A, []string{"main"}, false},
	} {
		if got := (&Ref{Commit: test.commit, Remote: test.remote}).matches(test.branches); got != test.want {
			t.Errorf("%s %q with %q: %v", test.remote, test.commit, test.branches, got)
		}
	}
}

// Refs that are written again as git writes them are read as the same refs, and
// every id is one that git can take for nothing else.
func FuzzRefs(f *testing.F) {
	f.Add("refs/heads/main " + sha1A + " refs/heads/main " + sha1Nil + "\n")
	f.Add("(delete) " + sha1Nil + " refs/heads/old " + strings.Repeat("a", 64) + "\n")
	f.Add("HEAD@{1 day ago} " + sha1A + " refs/heads/main " + sha1Nil)
	f.Add(" \n\n   \n")
	f.Fuzz(func(t *testing.T, in string) {
		refs, err := ReadRefs(strings.NewReader(in))
		if err != nil {
			return
		}
		var again strings.Builder
		id := func(id string) string {
			if id == "" {
				return sha1Nil
			}
			if strings.Trim(id, "0123456789abcdef") != "" || len(id) != 40 && len(id) != 64 {
				t.Errorf("the id %q came through", id)
			}
			return id
		}
		for _, r := range refs {
			again.WriteString(r.Local + " " + id(r.Commit) + " " + r.Remote + " " + id(r.Before) + "\n")
		}
		back, err := ReadRefs(strings.NewReader(again.String()))
		if err != nil || !reflect.DeepEqual(back, refs) {
			t.Errorf("read %q, written and read again %q, %v", refs, back, err)
		}
	})
}

func TestBoundary(t *testing.T) {
	for list, want := range map[string]string{"": "p", "a\nb\n": "", "a\nb\n-c\n-d\n": "c"} {
		if got := boundary(list, "p"); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}
