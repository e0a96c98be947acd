package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	// read returns the URLs that the output calls broken.
	read func(dir string, out []byte) (urls []string, err error)
	// said returns what the program says about each URL in more words; nil for most.
	said func(dir string) (map[string]string, error)
}

// askers are sitelink and its peers, with their defaults. sitelink counts each failure
// although the runs follow each other closely.
func askers() []asker {
	certFile := func(dir string) []string { return []string{"SSL_CERT_FILE=" + filepath.Join(dir, "authority.pem")} }
	return []asker{
		{name: "sitelink", env: certFile, read: brokenSitelink, said: saidSitelink, args: func(dir, _ string) []string {
			return []string{"external", filepath.Join(dir, "site"), "--allow-address", "127.0.0.0/8", "--strike-interval", "0s", "--max-age", "0s",
				"--status-cache", filepath.Join(dir, "status.jsonl"), "--format", "jsonl", "--fail-on", "never"}
		}},
		{name: "lychee", env: certFile, read: brokenLychee,
			args: func(dir, _ string) []string {
				return []string{"--format", "json", "--no-progress", filepath.Join(dir, "site", "index.html")}
			}},
		{name: "linkinator", read: brokenLinkinator,
			env: func(dir string) []string {
				return []string{"NODE_EXTRA_CA_CERTS=" + filepath.Join(dir, "authority.pem")}
			},
			args: func(_, url string) []string { return []string{url, "--format", "json"} }},
		{name: "muffet", env: certFile, read: brokenMuffet, args: func(_, url string) []string {
			return []string{"--format", "json", "--one-page-only", url}
		}},
		{name: "linkchecker", env: certFile, read: brokenLinkchecker, args: func(dir, _ string) []string {
			return []string{"--check-extern", "--no-status", "-f", filepath.Join(dir, "linkcheckerrc"), "-o", "csv", filepath.Join(dir, "site", "index.html")}
		}},
	}
}

// runExternal compares sitelink and its peers on a loopback web whose truth is known.
func runExternal(ctx context.Context, args []string, out, progress io.Writer) error {
	s := newSettings("external", progress)
	bins := map[string]*string{}
	for _, a := range askers()[1:] {
		bins[a.name] = s.String(a.name, a.name, "`program` to run; empty leaves it out")
	}
	if err := s.parse(args, 0); err != nil {
		return err
	}
	tmp, sitelink, err := s.begin(ctx, out)
	defer os.RemoveAll(tmp)
	if err != nil {
		return err
	}
	w, err := newWeb(classes)
	if err != nil {
		return err
	}
	defer w.close()
	fmt.Fprintf(out, "links     %d, one for each way to answer\nruns      %d\n", len(w.all), s.runs)
	var runs []*askerRun
	for _, a := range askers() {
		bin := sitelink
		if name, ok := bins[a.name]; ok {
			if *name == "" {
				continue
			}
			if bin, err = exec.LookPath(*name); err != nil {
				return fmt.Errorf("%w; install it, name it with -%s FILE, or leave it out with -%[2]s ''", err, a.name)
			}
			fmt.Fprintf(out, "%-9s %s\n", a.name, firstLine(ctx, bin, "--version"))
		}
		a := &askerRun{asker: a, bin: bin, dir: filepath.Join(tmp, a.name), false: map[string]bool{}}
		if err := a.prepare(w); err != nil {
			return err
		}
		defer a.server.Close()
		runs = append(runs, a)
	}
	for range s.runs {
		for _, a := range runs {
			if err := a.run(ctx, w, s.limit); err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
		}
	}
	printExternal(out, w, runs)
	if a := runs[0]; len(a.false) > 2 || len(a.silent) > 3 {
		return fmt.Errorf("figures not reached: sitelink calls %d working links dead, and passes %d dead ones without a hint: %v %v", len(a.false), len(a.silent), a.false, a.silent)
	}
	return nil
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
	broken   map[string]bool // of the last run
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

// run runs the program once and compares what it says with the truth.
func (a *askerRun) run(ctx context.Context, w *web, limit time.Duration) error {
	w.begin()
	var env []string
	if a.env != nil {
		env = a.env(a.dir)
	}
	p := program{argv: slices.Concat([]string{"env"}, env, []string{a.bin}, a.args(a.dir, a.url)), dir: a.dir,
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
	urls, err := a.read(a.dir, out)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out[:min(len(out), 2000)])
	}
	if a.said != nil {
		if a.words, err = a.said(a.dir); err != nil {
			return err
		}
	}
	a.samples = append(a.samples, got)
	requests, most := w.load()
	a.requests, a.most = append(a.requests, requests), max(a.most, most)
	a.broken, a.missed, a.silent = map[string]bool{}, nil, nil
	for _, u := range urls {
		a.broken[u] = true
	}
	for _, l := range w.all {
		switch {
		case l.kind.truth == works && a.broken[l.url]:
			a.false[l.url] = true
		case l.kind.truth == dead && !a.broken[l.url]:
			a.missed = append(a.missed, l.url)
			if a.words[l.url] == "" {
				a.silent = append(a.silent, l.url)
			}
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

// printExternal prints the tables.
func printExternal(out io.Writer, w *web, runs []*askerRun) {
	count := map[truth]int{}
	for _, l := range w.all {
		count[l.kind.truth]++
	}
	rows := []string{"program\tworking called broken\tdead missed\twithout a hint\trequests of each run\tmost to a host in 1 s\twall s of each run"}
	head := "kind\ttruth"
	for _, a := range runs {
		var walls []string
		for _, s := range a.samples {
			walls = append(walls, fmt.Sprintf("%.1f", s.Wall.Seconds()))
		}
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%s\t%d\t%s", a.name, len(a.false), len(a.missed), len(a.silent),
			strings.Trim(fmt.Sprint(a.requests), "[]"), a.most, strings.Join(walls, " ")))
		head += "\t" + a.name
	}
	table(out, fmt.Sprintf("%d links that work and %d that are dead", count[works], count[dead]), rows)
	rows = []string{head}
	for _, l := range w.all {
		row := l.kind.name + "\t" + l.kind.truth.String()
		for _, a := range runs {
			said := a.words[l.url]
			if said == "" && a.broken[l.url] {
				said = "broken"
			}
			row += "\t" + cmp.Or(said, "ok")
		}
		rows = append(rows, row)
	}
	table(out, "what each program answers for each kind", rows)
	var commands []string
	for _, a := range runs {
		commands = append(commands, a.name+"\t"+strings.Join(a.args("$DIR", "$URL"), " "))
	}
	table(out, "commands", commands)
}
