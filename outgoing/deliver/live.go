package deliver

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// look is what a source page was found to be.
type look struct {
	status    int
	moved     string // where it redirects to
	truncated bool
	links     map[uint64]bool // hashes of the addresses it links to
	err       error
}

var linkSeed = maphash.MakeSeed()

// lookAt fetches a source page.
func (d *delivery) lookAt(ctx context.Context, source string) look {
	r := fetch.Request{URL: source, MaxBody: d.opt.Live.MaxBody}
	if d.opt.Live.Bust {
		r.URL = bust(source, time.Now())
		r.Header = map[string][]string{"Cache-Control": {"no-cache"}}
	}
	answer, err := d.opt.Sources.Do(ctx, r)
	if err != nil {
		return look{err: err}
	}
	l := look{status: answer.Status, truncated: answer.Truncated}
	if answer.URL != r.URL {
		l.moved = answer.URL
	}
	if answer.Status >= 200 && answer.Status < 300 {
		l.links = linksOf(answer.URL, answer.Body)
	}
	return l
}

// bust adds a parameter to the query of an address.
func bust(url string, now time.Time) string {
	url, fragment, has := strings.Cut(url, "#")
	mark := "?"
	if strings.Contains(url, "?") {
		mark = "&"
	}
	url += mark + "sitelink=" + strconv.FormatInt(now.UnixNano(), 36)
	if has {
		url += "#" + fragment
	}
	return url
}

// linksOf returns the hashes of what a page links to: of each value as it is
// written, and as it is resolved. Which of a page's links count was decided
// before; here it is enough that an address stands in an attribute that holds
// one.
func linksOf(page string, body []byte) map[uint64]bool {
	links := map[uint64]bool{}
	base, err := weburl.Parse(page)
	add := func(value string) {
		value = strings.TrimSpace(value)
		links[maphash.String(linkSeed, value)] = true
		if err == nil {
			if u, err := base.Resolve(value); err == nil {
				links[maphash.String(linkSeed, u.String())] = true
			}
		}
	}
	z := html.NewTokenizer(strings.NewReader(string(body)))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return links
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, more := z.TagName(); more; {
				var name, value []byte
				name, value, more = z.TagAttr()
				switch string(name) {
				case "href", "src", "cite", "data", "poster":
					add(string(value))
				}
			}
		}
	}
}

// holds tells whether the page links to target.
func (l look) holds(target string) bool {
	if l.links[maphash.String(linkSeed, target)] {
		return true
	}
	u, err := weburl.Parse(target)
	return err == nil && l.links[maphash.String(linkSeed, u.String())]
}

// ready tells whether the world sees the page as the notice says it is; if not,
// why.
func (l look) ready(n *ledger.Notice) error {
	gone := n.Event == ledger.Removed || n.Event == ledger.Deleted || n.Event == ledger.Moved
	switch {
	case l.err != nil:
		return fmt.Errorf("the page cannot be fetched: %w", l.err)
	case gone && (l.status == 404 || l.status == 410 || l.moved != "" && n.Event == ledger.Moved):
		return nil
	case l.status < 200 || l.status >= 300:
		return fmt.Errorf("the page answers %d", l.status)
	case n.Protocol == ledger.WebSub: // the target is a feed's hub, the source the feed
		return nil
	case gone && l.holds(n.Target):
		return errors.New("the page still links to the target")
	case gone || l.holds(n.Target):
		return nil
	case l.truncated:
		return errors.New("the page is too long: the link is not in what was read of it")
	}
	return errors.New("the page does not link to the target")
}

// nextLook is how long to wait before a page is looked at again.
func nextLook(looks int) time.Duration {
	return min(time.Second<<min(looks, 5), 30*time.Second)
}
