package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

var (
	testProfiles = []string{"generic", "linklint"}
	testCodes    = []string{"missing-file", "missing-fragment", "wrong-case"}
)

// load runs Load in a new repository root that holds the given sitelink.toml;
// "" means no file.
func load(t *testing.T, file string, env map[string]string, flags ...Setting) (*Config, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	testkit.Check(t, os.Mkdir(".git", 0o755))
	if file != "" {
		testkit.Write(t, "sitelink.toml", file)
	}
	return Load(Input{
		Getenv: func(name string) string { return env[name] }, Flags: flags,
		Profiles: testProfiles, Codes: testCodes,
	})
}

func TestDefaults(t *testing.T) {
	c := testkit.Must(load(t, "", nil))(t)
	if c.File != "" || c.Docroot != "" || c.Output != "" || c.Autoindex != "" || c.Jobs != 0 {
		t.Errorf("defaults set something: %+v", c)
	}
	if c.Profile != "generic" || c.MaxPageBytes != 1<<30 || !c.Fragments {
		t.Errorf("defaults are wrong: %+v", c)
	}
	// Setting a key to its default changes nothing.
	for _, k := range Keys() {
		if len(k.Values) == 0 || k.Name == "autoindex" {
			continue
		}
		set := testkit.Must(load(t, "", nil, Setting{k.Name, []string{k.Default}}))(t)
		set.places = c.places
		if !reflect.DeepEqual(set, c) {
			t.Errorf("--%s %s, its default, changes\n%+v\ninto\n%+v", k.Name, k.Default, c, set)
		}
	}
}

func TestPrecedence(t *testing.T) {
	file := "profile = \"generic\"\nindex = [\"file.html\"]\n[check]\nformat = \"json\"\njobs = 2\nshow = \"all\"\n"
	env := map[string]string{"SITELINK_FORMAT": "jsonl", "SITELINK_JOBS": "3", "SITELINK_SHOW": ""}
	c := testkit.Must(load(t, file, env, Setting{"jobs", []string{"4"}}))(t)
	if c.Jobs != 4 || c.Formats[0].Name != "jsonl" || c.Show != "all" || c.Index[0] != "file.html" {
		t.Errorf("got jobs %d, format %v, show %s, index %s", c.Jobs, c.Formats, c.Show, c.Index)
	}
	for key, want := range map[string]string{
		"jobs": "--jobs", "format": "SITELINK_FORMAT", "show": "sitelink.toml:6", "index": "sitelink.toml:2", "color": "",
	} {
		if got := c.Place(key); got != want {
			t.Errorf("Place(%s) = %q, want %q", key, got, want)
		}
	}
}

// Every key can be set in every way, and each way gives the same value.
func TestEveryKeyEveryWay(t *testing.T) {
	values := map[string]struct{ toml, text string }{
		"docroot":          {`"site"`, "site"},
		"base-url":         {`["https://example.org/a/"]`, "https://example.org/a/"},
		"profile":          {`"linklint"`, "linklint"},
		"index":            {`"main.html"`, "main.html"},
		"autoindex":        {`"error"`, "error"},
		"base":             {`"document-order"`, "document-order"},
		"tags":             {`"linklint"`, "linklint"},
		"map":              {`["/a=/b"]`, "/a=/b"},
		"page-extensions":  {`[".php"]`, "php"},
		"max-page-size":    {`"2MB"`, "2MB"},
		"jobs":             {`0x10`, "16"},
		"from":             {`["/a/@"]`, "/a/@"},
		"skip":             {`"/a/#"`, "/a/#"},
		"limit":            {`7`, "7"},
		"orphans":          {`true`, "true"},
		"fragments":        {`false`, "false"},
		"script-fragments": {`"silent"`, "silent"},
		"fail-on":          {`"warning"`, "warning"},
		"source":           {`"off"`, "off"},
		"format":           {`["json", "sarif=out.sarif"]`, "json,sarif=out.sarif"},
		"all":              {`true`, "true"},
		"group-by":         {`"owner"`, "owner"},
		"show":             {`"all"`, "all"},
		"output":           {`"out.txt"`, "out.txt"},
		"baseline":         {`"known.jsonl"`, "known.jsonl"},
		"baseline-ref":     {`"origin/main"`, "origin/main"},
		"baseline-docroot": {`"before"`, "before"},
		"since":            {`"v1"`, "v1"},
		"gone":             {`"error"`, "error"},
		"anchors":          {`"headings"`, "headings"},
		"log":              {`"access.log"`, "access.log"},
		"color":            {`"never"`, "never"},
		"progress":         {`true`, "true"},
		"ignore":           {`[{url = "/x", reason = "y"}]`, "url=/x,reason=y"},
	}
	plain := newLoader(Input{}).cfg
	for _, k := range Keys() {
		t.Run(k.Name, func(t *testing.T) {
			v, ok := values[k.Name]
			if !ok {
				t.Fatal("the test has no value for this key")
			}
			file := k.Name + " = " + v.toml
			if k.Table != "" {
				file = "[" + k.Table + "]\n" + file
			}
			fromFile := testkit.Must(load(t, file, nil))(t)
			fromEnv := testkit.Must(load(t, "", map[string]string{k.Env(): v.text}))(t)
			fromFlag := testkit.Must(load(t, "", nil, Setting{k.Name, k.split(v.text)}))(t)
			fromFile.File, fromFile.Found = "", false
			for _, c := range []*Config{fromFile, fromEnv, fromFlag} {
				for i := range c.Ignores {
					c.Ignores[i].Origin = ""
				}
				c.places = plain.places
			}
			if reflect.DeepEqual(fromFile, plain) {
				t.Error("the key changes nothing")
			}
			if !reflect.DeepEqual(fromFile, fromEnv) || !reflect.DeepEqual(fromFile, fromFlag) {
				t.Errorf("file\n%+v\nenvironment\n%+v\nflag\n%+v", fromFile, fromEnv, fromFlag)
			}
		})
	}
}

func TestLinklintProfile(t *testing.T) {
	c := testkit.Must(load(t, "", nil, Setting{"profile", []string{"linklint"}}))(t)
	if c.Tags != "linklint" || c.Base != "document-order" || c.Autoindex != "list" {
		t.Errorf("got tags %s, base %s, autoindex %s", c.Tags, c.Base, c.Autoindex)
	}
	// What the user says stands, even in a lower place and when it is the default.
	c = testkit.Must(load(t, "tags = \"modern\"\nautoindex = \"error\"\n", nil, Setting{"profile", []string{"linklint"}}))(t)
	if c.Tags != "modern" || c.Base != "document-order" || c.Autoindex != "error" {
		t.Errorf("got tags %s, base %s, autoindex %s", c.Tags, c.Base, c.Autoindex)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestEnvironmentLists(t *testing.T) {
	c, err := load(t, "", map[string]string{
		"SITELINK_INDEX":  "index.html, index.htm",
		"SITELINK_IGNORE": "/a/{b,c}\n\npage=x.html,code=wrong-case\n",
	})
	testkit.Check(t, err)
	if !reflect.DeepEqual(c.Index, []string{"index.html", "index.htm"}) {
		t.Errorf("got index %q", c.Index)
	}
	if len(c.Ignores) != 2 || c.Ignores[0].URL != "/a/{b,c}" || c.Ignores[1].Page != "x.html" || c.Ignores[1].Code != "wrong-case" {
		t.Errorf("got rules %+v", c.Ignores)
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := load(t, "jbos = 3\n[check]\nformat = 1\n", map[string]string{"SITELINK_JOBS": "many"}, Setting{"color", []string{"red"}})
	want := []string{
		`sitelink.toml:1:1: unknown key "jbos"`,
		`sitelink.toml:3:1: format: must be a list of strings, not the number 1`,
		`SITELINK_JOBS: must be a whole number from 0 to 1024, not "many"`,
		`--color: must be auto, always or never, not "red"`,
	}
	if got := message(err); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "[[y%d]]\n", i)
	}
	_, err = load(t, many.String(), nil)
	if got := strings.Count(message(err), "\n") + 1; got != maxErrors {
		t.Errorf("got %d messages, want %d", got, maxErrors)
	}
}

func TestNearest(t *testing.T) {
	var words []string
	for _, k := range Keys() {
		words = append(words, k.Name)
	}
	for name, want := range map[string]string{
		"baseurl": "base-url", "base_url": "base-url", "Base-URL": "base-url", "docrot": "docroot", "jbos": "jobs",
		"fail-no": "fail-on", "colour": "color", "zzzzzzzz": "", "": "", strings.Repeat("a", 5000): "",
	} {
		if got, _ := Nearest(name, words); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", name, got, want)
		}
	}
}

// hintFor returns the hint of the first fault.
func hintFor(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}
