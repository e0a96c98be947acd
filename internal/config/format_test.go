package config

import (
	"path/filepath"
	"reflect"
	"testing"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   []Format
		err    string
	}{
		{[]string{"json"}, []Format{{"json", ""}}, ""},
		{[]string{"text", "sarif=out.sarif", "json=a=b.json"}, []Format{{"text", ""}, {"sarif", "out.sarif"}, {"json", "a=b.json"}}, ""},
		{[]string{"sarif=-"}, []Format{{"sarif", ""}}, ""},
		{[]string{"sarif=a", "sarif=b"}, []Format{{"sarif", "a"}, {"sarif", "b"}}, ""},
		{[]string{"text", "json"}, nil, "--format: both text and json go to standard output"},
		{[]string{"text=-", "json"}, nil, "--format: both text=- and json go to standard output"},
		{[]string{"text=x/../a", "json=./a"}, nil, "--format: both text=x/../a and json=./a go to the same file"},
		{[]string{"sarif="}, nil, `--format: the name of the file is missing in "sarif="`},
		{[]string{""}, nil, `--format: unknown format ""`},
		{[]string{"text=a\x00b"}, nil, "--format: the value contains a NUL byte"},
		{[]string{}, nil, "--format: must have at least one of text, json, jsonl, markdown, github, sarif, junit, gitlab, checkstyle or html"},
	} {
		cfg, err := load(t, "", nil, Setting{"format", c.values})
		if message(err) != c.err {
			t.Errorf("%q: %v, want %q", c.values, err, c.err)
		} else if err == nil && !reflect.DeepEqual(cfg.Formats, c.want) {
			t.Errorf("%q: %v, want %v", c.values, cfg.Formats, c.want)
		}
	}
	_, err := load(t, "", nil, Setting{"format", []string{"text", "sarfi=x"}})
	if hintFor(err) != `did you mean "sarif"?` {
		t.Errorf("hint %q", hintFor(err))
	}
}

// TestFormatFiles: in the configuration file, the names of files are relative to
// the project; one string is a list of one; a flag replaces the list.
func TestFormatFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".git/x", "")
	write(t, "sitelink.toml", "[check]\nformat = [\"text\", \"sarif=build/out.sarif\", \"json=/abs/x\", \"jsonl\"]\n")
	write(t, "sub/x", "")
	t.Chdir("sub")
	if _, err := Load(Request{}); message(err) != "../sitelink.toml:2:1: format: both text and jsonl go to standard output" {
		t.Errorf("got %v", err)
	}
	write(t, "../sitelink.toml", "[check]\nformat = [\"text\", \"sarif=build/out.sarif\", \"json=/abs/x\"]\n")
	cfg, err := Load(Request{})
	want := []Format{{"text", ""}, {"sarif", filepath.Join("..", "build", "out.sarif")}, {"json", "/abs/x"}}
	if err != nil || !reflect.DeepEqual(cfg.Formats, want) {
		t.Errorf("%v, %v, want %v", cfg.Formats, err, want)
	}
	cfg, err = Load(Request{Flags: []Setting{{"format", []string{"junit=j.xml"}}}})
	if err != nil || !reflect.DeepEqual(cfg.Formats, []Format{{"junit", "j.xml"}}) {
		t.Errorf("%v, %v", cfg.Formats, err)
	}
	write(t, "../sitelink.toml", "[check]\nformat = \"sarif=-\"\n")
	if cfg, err = Load(Request{}); err != nil || !reflect.DeepEqual(cfg.Formats, []Format{{"sarif", ""}}) {
		t.Errorf("%v, %v", cfg.Formats, err)
	}
}
