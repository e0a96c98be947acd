package external

import (
	"context"
	"fmt"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/site"
)

// State says in a line what a record tells, "" if the page answers well and is as it was.
func State(r *remote.Record) string {
	line := ""
	if r.Code != "" || r.Reason != "" {
		line = verdict(r)
	}
	if !r.Changed.IsZero() {
		if line != "" {
			line += "; "
		}
		line += "changed by " + r.Changed.Format(time.RFC3339)
	}
	return line
}

// verdict describes the verdict of a record.
func verdict(r *remote.Record) string {
	v, what := r.Verdict.String(), "the host answered well"
	if r.Code != "" {
		v += " " + string(r.Code)
	}
	if r.Reason != "" {
		what = says(r.Reason, r.Status)
	}
	return fmt.Sprintf("%s (asked on %s): %s", v, r.Asked.Format(time.DateOnly), what)
}

// Edit calls edit for each record of the status cache of a project, and stores the
// record if edit returns true. It returns the number of these records.
func Edit(ctx context.Context, p *project.Project, warn func(string), edit func(*remote.Record) bool) (n int, err error) {
	lock, err := LockRun(ctx, p, warn)
	if err != nil {
		return 0, err
	}
	defer lock.Close() // nil has no effect
	records, err := Records(ctx, p, nil)
	if err != nil {
		return 0, err
	}
	cache, err := openCache(ctx, p, warn)
	if err != nil {
		return 0, err
	}
	for i := range records {
		if edit(&records[i]) {
			cache.Put(records[i])
			n++
		}
	}
	return n, cache.Close()
}

// Prune removes the URLs that a site does not link to from the status cache of its
// project, and returns their number.
func Prune(ctx context.Context, p *project.Project, s *site.Site, opt check.Options, warn func(string)) (int, error) {
	if isDatabase(CacheName(p)) {
		return 0, text.Usage("other sites share the status cache "+notify.WithoutPassword(CacheName(p)), "remove old rows with SQL (sitelink help external-links)")
	}
	c, err := Open(ctx, p, Options{Warn: warn})
	if err != nil {
		return 0, err
	}
	n := 0
	links, err := c.links(ctx, s, opt)
	if len(links) > 0 {
		n = c.cache.Flush(links)
	} else if err == nil {
		warn("the site has no links to other sites, so nothing was removed from the status cache")
	}
	if closeErr := c.Close(); err == nil {
		err = closeErr
	}
	return n, err
}
