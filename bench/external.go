package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// asker is a program that checks links to other sites.
type asker struct {
	name string
	// args makes the arguments of a run in a directory with the site's one page,
	// which is served at url too.
	args func(dir, url string) []string
	env  func(dir string) []string
	// broken returns the URLs that the output calls broken.
	broken func(dir string, out []byte) (urls []string, err error)
	// said returns what the program says about each URL in more words; nil for most.
	said func(dir string) (map[string]string, error)
}

// askers are sitelink and its peers, with their defaults. sitelink counts each failure
// although the runs follow each other closely.
func askers() []asker {
	certFile := func(dir string) []string { return []string{"SSL_CERT_FILE=" + filepath.Join(dir, "authority.pem")} }
	return []asker{
		{name: "sitelink", env: certFile, broken: brokenSitelink, said: saidSitelink, args: func(dir, _ string) []string {
			return []string{"external", filepath.Join(dir, "site"), "--allow-address", "127.0.0.0/8", "--strike-interval", "0s", "--max-age", "0s",
				"--status-cache", filepath.Join(dir, "status.jsonl"), "--format", "jsonl", "--fail-on", "never"}
		}},
		{name: "lychee", env: certFile, broken: brokenLychee,
			args: func(dir, _ string) []string {
				return []string{"--format", "json", "--no-progress", filepath.Join(dir, "site", "index.html")}
			}},
		{name: "linkinator", broken: brokenLinkinator,
			env: func(dir string) []string {
				return []string{"NODE_EXTRA_CA_CERTS=" + filepath.Join(dir, "authority.pem")}
			},
			args: func(_, url string) []string { return []string{url, "--format", "json"} }},
		{name: "muffet", env: certFile, broken: brokenMuffet, args: func(_, url string) []string {
			return []string{"--format", "json", "--one-page-only", url}
		}},
		{name: "linkchecker", env: certFile, broken: brokenLinkchecker, args: func(dir, _ string) []string {
			return []string{"--check-extern", "--no-status", "-f", filepath.Join(dir, "linkcheckerrc"), "-o", "csv", filepath.Join(dir, "site", "index.html")}
		}},
	}
}

// runExternal compares sitelink and its peers on a loopback web whose truth is known.
func runExternal(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	var seed uint64
	var hard bool
	var before string
	bins := map[string]*string{}
	if err := s.parse("external", args, func(fs *flag.FlagSet) {
		fs.Uint64Var(&seed, "seed", 1, "of the links")
		fs.BoolVar(&hard, "classes", false, "one link for each of many ways to answer, in place of many links")
		fs.StringVar(&before, "before", "", "another sitelink to compare with")
		for _, a := range askers()[1:] {
			bins[a.name] = fs.String(a.name, a.name, "`program` to run; a name is looked up in -cache and PATH, empty leaves it out")
		}
	}); err != nil {
		return err
	}
	sitelink, version, err := s.buildSitelink(ctx)
	if err != nil {
		return err
	}
	kinds := kinds
	if hard {
		kinds = classes
	}
	w, err := newWeb(seed, kinds)
	if err != nil {
		return err
	}
	defer w.close()
	var r result
	r.machine(ctx, s.date)
	r.addf("sitelink  %s\nlinks     %d, seed %d\nruns      %d\n", version, len(w.all), seed, s.runs)
	var runs []*askerRun
	all := askers()
	if before != "" {
		bins["before"] = &before
		all = slices.Insert(all, 1, all[0])
		all[1].name = "before"
	}
	for _, a := range all {
		bin := sitelink
		if name, ok := bins[a.name]; ok {
			if *name == "" {
				continue
			}
			if bin, err = findProgram(*name, s.cache); err != nil {
				return err
			}
		}
		a := &askerRun{asker: a, bin: bin, false: map[string]bool{}, by: map[string]int{}}
		dir, remove, err := scratch()
		if err != nil {
			return err
		}
		defer remove()
		a.dir = dir
		if err := a.prepare(w); err != nil {
			return err
		}
		defer a.server.Close()
		if a.name != "sitelink" {
			r.addf("%-9s %s\n", a.name, a.version(ctx))
		}
		runs = append(runs, a)
	}
	for round := range s.runs {
		for _, a := range runs {
			if err := a.run(ctx, w, round, s.limit); err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
		}
	}
	r.external(w, runs)
	name, mostFalse, mostMissed := "external", 0, 0
	if hard {
		name, mostFalse, mostMissed = "external-classes", 2, 3
	}
	if err := r.keep(&s, name, out); err != nil {
		return err
	}
	if a := runs[0]; len(a.false) > mostFalse || len(a.silent) > mostMissed {
		return fmt.Errorf("figures not reached: sitelink calls %d working links dead, and passes %d dead ones without a hint: %v %v", len(a.false), len(a.silent), a.false, a.silent)
	}
	return nil
}

// findProgram finds a program by its name in the cache or PATH, or by its path.
func findProgram(name, cache string) (string, error) {
	if !strings.Contains(name, "/") {
		if path := filepath.Join(cache, "bin", name); exec.Command(path, "--version").Run() == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %s: install it, name it with -%s FILE, or leave it out with -%[2]s ''", errNoPeer, name, filepath.Base(name))
	}
	return filepath.Abs(path)
}

// askerRun is a program with what came of its runs.
type askerRun struct {
	asker
	bin, dir string
	server   *http.Server // of the page
	url      string
	samples  []sample
	requests []int
	most     int             // requests to one host within a second
	false    map[string]bool // links that work and were called broken in any run
	missed   []string        // dead links that the last run did not call broken
	silent   []string        // those of them about which the program says nothing
	words    map[string]string
	by       map[string]int // wrong answers by kind
	hinted   int            // links not scored that were called broken
}

// prepare writes the page with the links.
func (a *askerRun) prepare(w *web) error {
	var page bytes.Buffer
	page.WriteString("<!doctype html><title>links</title>\n")
	for _, l := range w.all {
		fmt.Fprintf(&page, "<p><a href=%q>link</a>\n", l.url)
	}
	site := filepath.Join(a.dir, "site")
	files := map[string][]byte{
		filepath.Join(site, "index.html"):        page.Bytes(),
		filepath.Join(a.dir, "authority.pem"):    w.authority,
		filepath.Join(a.dir, "linkcheckerrc"):    fmt.Appendf(nil, "[checking]\nsslverify=%s\n", filepath.Join(a.dir, "authority.pem")),
		filepath.Join(site, ".sitelink", "none"): nil,
	}
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	if err := os.Chmod(a.dir, 0o755); err != nil { // linkchecker gives up the rights of root
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	a.url = "http://" + l.Addr().String() + "/"
	a.server = &http.Server{Handler: http.FileServer(http.Dir(site))}
	go a.server.Serve(l)
	return nil
}

// version returns the first line that the program says about itself.
func (a *askerRun) version(ctx context.Context) string {
	out, _ := exec.CommandContext(ctx, a.bin, "--version").Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// run runs the program once and compares what it says with the truth.
func (a *askerRun) run(ctx context.Context, w *web, round int, limit time.Duration) error {
	w.begin(round)
	p := program{argv: append([]string{"env"}, append(a.env(a.dir), append([]string{a.bin}, a.args(a.dir, a.url)...)...)...), dir: a.dir,
		okExits: []int{0, 1, 2}, out: filepath.Join(a.dir, "out")}
	got, err := p.measure(ctx, limit)
	if err != nil {
		return err
	}
	out, err := os.ReadFile(p.out)
	if err != nil {
		return err
	}
	if got.Failure != "" {
		return fmt.Errorf("%s: %s", got.Failure, out[:min(len(out), 2000)])
	}
	urls, err := a.broken(a.dir, out)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out[:min(len(out), 2000)])
	}
	a.samples = append(a.samples, got)
	requests, most := w.load()
	a.requests, a.most = append(a.requests, requests), max(a.most, most)
	broken := map[string]bool{}
	for _, u := range urls {
		broken[u] = true
	}
	if a.said != nil {
		if a.words, err = a.said(a.dir); err != nil {
			return err
		}
	}
	a.missed, a.silent, a.hinted = nil, nil, 0
	for _, l := range w.all {
		switch {
		case l.kind.truth == works && broken[l.url] && !a.false[l.url]:
			a.false[l.url] = true
			a.by[l.kind.name]++
		case l.kind.truth == dead && !broken[l.url]:
			a.missed = append(a.missed, l.url)
			if a.words[l.url] == "" {
				a.silent = append(a.silent, l.url)
			}
		case l.kind.truth == unscored && broken[l.url]:
			a.hinted++
		}
	}
	return nil
}

// brokenSitelink reads the report of sitelink external: only dead-link is an error.
func brokenSitelink(_ string, out []byte) (urls []string, err error) {
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var row struct {
			Code   string `json:"code"`
			Target string `json:"target"`
		}
		if json.Unmarshal(s.Bytes(), &row) == nil && row.Code == "dead-link" {
			urls = append(urls, row.Target)
		}
	}
	return urls, nil
}

// saidSitelink reads the status cache: the code, the reason and whether there is a hint.
func saidSitelink(dir string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "status.jsonl"))
	said := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		var row struct {
			URL, Code, Reason string
			Hints             []string
		}
		if json.Unmarshal(s.Bytes(), &row) == nil && row.URL != "" {
			words := strings.TrimSpace(row.Code + " " + row.Reason)
			if words == "" && len(row.Hints) > 0 {
				words = "hint"
			}
			said[row.URL] = words
		}
	}
	return said, err
}

// brokenLinkinator reads linkinator's list.
func brokenLinkinator(_ string, out []byte) (urls []string, err error) {
	start := bytes.IndexByte(out, '{')
	if start < 0 {
		return nil, errors.New("no JSON")
	}
	var report struct {
		Links []struct{ URL, State string }
	}
	if err := json.NewDecoder(bytes.NewReader(out[start:])).Decode(&report); err != nil {
		return nil, err
	}
	for _, l := range report.Links {
		if l.State == "BROKEN" {
			urls = append(urls, l.URL)
		}
	}
	return urls, nil
}

// brokenLychee reads lychee's maps from inputs to links.
func brokenLychee(_ string, out []byte) (urls []string, err error) {
	start := bytes.IndexByte(out, '{')
	if start < 0 {
		return nil, errors.New("no JSON")
	}
	var report map[string]json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(out[start:])).Decode(&report); err != nil {
		return nil, err
	}
	for _, name := range []string{"error_map", "fail_map", "timeout_map"} {
		var links map[string][]struct {
			URL string `json:"url"`
		}
		if report[name] == nil {
			continue
		}
		if err := json.Unmarshal(report[name], &links); err != nil {
			return nil, err
		}
		for _, all := range links {
			for _, l := range all {
				urls = append(urls, l.URL)
			}
		}
	}
	return urls, nil
}

// brokenMuffet reads muffet's pages.
func brokenMuffet(_ string, out []byte) (urls []string, err error) {
	start := bytes.IndexByte(out, '[')
	if start < 0 {
		return nil, errors.New("no JSON")
	}
	var pages []struct {
		Links []struct {
			URL   string `json:"url"`
			Error string `json:"error"`
		} `json:"links"`
	}
	if err := json.NewDecoder(bytes.NewReader(out[start:])).Decode(&pages); err != nil {
		return nil, err
	}
	for _, p := range pages {
		for _, l := range p.Links {
			if l.Error != "" {
				urls = append(urls, l.URL)
			}
		}
	}
	return urls, nil
}

// brokenLinkchecker reads linkchecker's table, which has the links that are not valid
// and those with warnings.
func brokenLinkchecker(_ string, out []byte) (urls []string, err error) {
	start := bytes.Index(out, []byte("urlname;"))
	if start < 0 {
		return nil, errors.New("no table")
	}
	c := csv.NewReader(bytes.NewReader(out[start:]))
	c.Comma, c.Comment, c.FieldsPerRecord, c.LazyQuotes = ';', '#', -1, true
	rows, err := c.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("read the table: %w", err)
	}
	name, valid := slices.Index(rows[0], "urlname"), slices.Index(rows[0], "valid")
	if name < 0 || valid < 0 {
		return nil, errors.New("no column urlname or valid")
	}
	for _, row := range rows[1:] {
		if len(row) > valid && row[valid] == "False" {
			urls = append(urls, row[name])
		}
	}
	return urls, nil
}

// external writes the tables.
func (r *result) external(w *web, runs []*askerRun) {
	var rows [][]string
	working, gone := 0, 0
	for _, l := range w.all {
		switch l.kind.truth {
		case works:
			working++
		case dead:
			gone++
		}
	}
	r.section(fmt.Sprintf("%d links that work and %d that are dead", working, gone))
	for _, a := range runs {
		var walls, requests []string
		for i := range a.samples {
			walls = append(walls, fmt.Sprintf("%.1f", a.samples[i].Wall.Seconds()))
			requests = append(requests, strconv.Itoa(a.requests[i]))
		}
		rows = append(rows, []string{a.name, strconv.Itoa(len(a.false)), strconv.Itoa(len(a.missed)), strconv.Itoa(len(a.silent)), strings.Join(requests, ", "), strconv.Itoa(a.most), strings.Join(walls, ", ")})
	}
	r.addf("%s", table([]string{"program", "working called broken", "dead missed", "without a hint", "requests of each run", "most to a host in 1 s", "wall s of each run"}, rows))
	r.section("Wrong answers by kind")
	rows = nil
	for _, k := range w.kinds {
		row := []string{k.name, k.truth.String(), strconv.Itoa(max(k.hosts, 1) * k.links)}
		for _, a := range runs {
			n := a.by[k.name]
			for _, u := range a.missed {
				if w.kindOf(u) == k.name {
					n++
				}
			}
			if k.truth == unscored {
				n = a.hinted
			}
			if a.words != nil && k.links == 1 {
				for _, l := range w.all {
					if l.kind.name == k.name {
						row = append(row, cmp.Or(a.words[l.url], "ok"))
					}
				}
				continue
			}
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	head := []string{"kind", "truth", "links"}
	for _, a := range runs {
		head = append(head, a.name)
	}
	r.addf("%s", table(head, rows))
	for _, a := range runs {
		args := strings.Join(a.args("$DIR", "$URL"), " ")
		r.addf("\n%s %s", a.name, args)
	}
	r.addf("\n")
}

// kindOf returns the kind of a link.
func (w *web) kindOf(url string) string {
	for _, l := range w.all {
		if l.url == url {
			return l.kind.name
		}
	}
	return ""
}
