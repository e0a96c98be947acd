package analysis

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
)

func TestSmoke(t *testing.T) {
	dir := os.Getenv("SMOKE")
	if dir == "" {
		t.Skip()
	}
	ctx := context.Background()
	cfg, err := config.Load(config.Request{Dir: dir})
	_ = cfg
	p, err := project.Find(ctx, dir, project.Options{Config: cfg, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	a, err := audit.Open(ctx, p, audit.Options{Sources: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Check(ctx)
	fmt.Println("check", time.Since(begin), len(r.Findings))
	begin = time.Now()
	s, err := New(ctx, a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("snapshot", time.Since(begin), len(s.order), len(s.content), len(s.addresses), s.hooks)
	type key struct {
		file string
		at   int
	}
	ours := map[key]string{}
	n, links, judged := 0, 0, 0
	var worst time.Duration
	for _, name := range s.order {
		text, err := s.ReadText(name)
		if err != nil {
			continue
		}
		s.builtLinks(name)
		begin := time.Now()
		f, err := s.Analyze(ctx, nil, name, text)
		if err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d > worst {
			worst = d
			fmt.Println("slow", d, name, len(text))
		}
		links += len(f.Links)
		for _, l := range f.Links {
			if l.Target.Judged {
				judged++
			}
		}
		for _, pr := range s.Problems(f) {
			n++
			ours[key{name, pr.Start}] = fmt.Sprint(pr.Target.Verdict, " ", pr.Target.Code, " ", pr.Value, " -> ", pr.Target.Value)
		}
	}
	fmt.Println("links", links, "judged", judged, "problems", n)
	theirs := map[key]string{}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Source == nil || f.Raw == "" {
			continue
		}
		text, err := s.ReadText(f.Source.File)
		if err != nil {
			continue
		}
		start, _, ok := s.Placer(text, f.Source.File)(f.Source.Line, f.Source.Column)
		if ok {
			theirs[key{f.Source.File, start}] = fmt.Sprint(f.Verdict, " ", f.Code, " ", f.Raw)
		}
	}
	both, only, shown := 0, 0, 0
	for k, v := range ours {
		if w, ok := theirs[k]; ok {
			both++
			_ = w
		} else {
			only++
			if shown++; shown < 15 {
				fmt.Println("only ours", k, v)
			}
		}
	}
	shown = 0
	missed := 0
	for k, v := range theirs {
		if _, ok := ours[k]; !ok {
			missed++
			if shown++; shown < 15 {
				fmt.Println("only check", k, v)
			}
		}
	}
	fmt.Println("both", both, "only ours", only, "only check", missed)
	_ = check.OK
}
