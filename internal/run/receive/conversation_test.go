package receive_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/incoming/server"
	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/run/receive"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// party is a site with a receiver and a sender.
type party struct {
	t      *testing.T
	clock  *incomingtest.Clock // of both sites
	base   string
	root   string
	store  *incomingtest.Store
	sites  *incoming.Sites
	book   *receive.Book
	sender *send.LinkSender
}

func newParty(t *testing.T, c *incomingtest.Clock, files map[string]string) *party {
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &party{t: t, clock: c, base: "http://" + l.Addr().String() + "/", root: t.TempDir(), store: incomingtest.NewStore(c.Now), sites: &incoming.Sites{}, book: &receive.Book{}}
	allowed := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	receiver := incoming.NewReceiver(incoming.ReceiverOptions{
		Store: p.store, Sites: p.sites, Now: c.Now, LinkMod: true,
		Client: verify.NewClient(verify.Options{AllowAddresses: allowed, Pace: -1}),
	})
	peer := testkit.Must(send.ParseLinkPeer("127.0.0.1"))(t)
	p.sender = send.NewLink(outgoing.NewClient(outgoing.ClientOptions{AllowAddresses: allowed, Pace: -1}), send.LinkOptions{Peers: []send.LinkPeer{peer}, Now: c.Now})
	p.deploy(files)
	pages := testkit.Must(server.NewPages([]server.Docroot{{BaseURL: p.base, Dir: p.root}}))(t)
	s := server.New(server.Options{Receiver: receiver, Mentions: p.store, Pages: pages, BaseURLs: []string{p.base}, Now: c.Now})
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { s.Serve(ctx, l) })
	done.Go(func() { receiver.Run(ctx) })
	t.Cleanup(func() {
		stop()
		done.Wait()
	})
	return p
}

// deploy publishes files and sends the calls that follow.
func (p *party) deploy(files map[string]string) []receive.Sent {
	p.t.Helper()
	before := &incoming.Sites{}
	before.Set(p.sites.All()...)
	staging := p.t.TempDir()
	manifest(p.t, staging, p.base, files) // a broken docroot is found before it is published
	p.sites.Set(manifest(p.t, p.root, p.base, files))
	testkit.Check(p.t, p.book.Deploy(p.t.Context(), p.store, before, p.sites))
	sent := testkit.Must(p.book.Send(p.t.Context(), p.sender, p.clock.Now()))(p.t)
	for _, s := range sent {
		if s.State != ledger.Done {
			p.t.Errorf("%s %s %s: %s (%s)", s.Call.Method, s.Call.Source, s.Call.Target, s.State, s.Message)
		}
	}
	return sent
}

// call makes one call to the other party.
func (p *party) call(c send.LinkCall) {
	p.t.Helper()
	if o := p.sender.Notify(p.t.Context(), c); o.State != ledger.Done {
		p.t.Fatalf("%s %s %s: %s (%s)", c.Method, c.Source, c.Target, o.State, o.Message)
	}
}

// wait waits for a mention that is in a state.
func (p *party) wait(a incoming.Action, source, target string, state incoming.State) (m incoming.Mention) {
	p.t.Helper()
	var all []incoming.Mention
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(2 * time.Millisecond) {
		all = all[:0]
		for m, err := range p.store.List(p.t.Context(), incoming.Filter{}) {
			testkit.Check(p.t, err)
			if all = append(all, m); m.Action == a && m.Source == source && m.Target == target && m.State == state {
				return m
			}
		}
	}
	p.t.Fatalf("no %s from %s to %s that is %s: %+v", a, source, target, state, all)
	return m
}

// doubt waits for the first look that no longer finds a link.
func (p *party) doubt(source, target string, fault int) {
	p.t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(2 * time.Millisecond) {
		if m := p.wait("", source, target, incoming.Approved); m.Fault == fault {
			return
		}
	}
	p.t.Fatalf("the link from %s to %s is not doubted", source, target)
}

// TestConversation: two sites on loopback hold the whole conversation of the LINK
// draft: each call over the wire in the form of 1996, each proved by a fetch (LK-12
// to LK-19, LK-29, LK-35, LK-36, LK-46, LK-49, LK-50).
func TestConversation(t *testing.T) {
	c := incomingtest.NewClock(now)
	b := newParty(t, c, map[string]string{"index.html": text("home"), "doc.html": text("doc")})
	post := func(target string) map[string]string {
		return map[string]string{"index.html": text("home"), "post.html": `<p>See <a href="` + target + `">this</a>.` + text("post")}
	}
	doc := b.base + "doc.html"
	a := newParty(t, c, post(doc))
	source := a.base + "post.html"

	// a links to b and asks for LINKMOD.
	a.call(send.LinkCall{Method: send.Link, Source: source, Target: doc, Subscribe: true})
	m := b.wait("", source, doc, incoming.Held)
	if !m.Subscribed || !strings.HasPrefix(m.Excerpt, "See this.") {
		t.Errorf("LINK: %+v", m)
	}
	if _, err := b.store.Update(t.Context(), m.ID, func(m *incoming.Mention) error { m.State = incoming.Approved; return nil }); err != nil {
		t.Fatal(err)
	}

	// b edits the page: LINKMOD.
	sent := b.deploy(map[string]string{"index.html": text("home"), "doc.html": text("doc, edited")})
	if len(sent) != 1 || sent[0].Call.Method != send.LinkMod {
		t.Errorf("LINKMOD: %+v", sent)
	}
	a.wait(incoming.LinkMod, source, doc, incoming.Held)

	// b moves the page: UNLINKR with the new address, which a proves and keeps for
	// its author.
	c.Pass(2 * time.Hour)
	moved := b.base + "new.html"
	sent = b.deploy(map[string]string{"index.html": text("home"), "new.html": text("doc, edited")})
	if len(sent) != 1 || sent[0].Call.Method != send.UnlinkR || sent[0].Call.Replacement != moved {
		t.Errorf("UNLINKR: %+v", sent)
	}
	if m := a.wait(incoming.UnlinkR, source, doc, incoming.Held); m.Replacement != moved || !strings.Contains(m.Reason, "404") {
		t.Errorf("UNLINKR: %+v", m)
	}

	// a changes the link: LINK for the new one. b no longer has the old page, so an
	// UNLINK for it is answered with 417, and there is nothing left to remove.
	a.deploy(post(moved))
	a.call(send.LinkCall{Method: send.Link, Source: source, Target: moved})
	b.wait("", source, moved, incoming.Approved) // the host is known
	a.call(send.LinkCall{Method: send.Unlink, Source: source, Target: doc})
	c.Pass(40 * 24 * time.Hour)
	b.wait("", source, moved, incoming.Approved)
	a.wait(incoming.UnlinkR, source, doc, incoming.Gone) // done: our page no longer has the link

	// a moves its own page: UNLINK with its new address.
	renamed := a.base + "renamed.html"
	a.deploy(map[string]string{"index.html": text("home"), "renamed.html": post(moved)["post.html"]})
	c.Pass(2 * time.Hour)
	a.call(send.LinkCall{Method: send.Unlink, Source: source, Target: moved, Replacement: renamed})
	b.wait("", renamed, moved, incoming.Approved)
	b.doubt(source, moved, 16)
	c.Pass(7 * time.Hour) // the second look
	b.wait("", source, moved, incoming.Gone)

	// a removes the link: UNLINK.
	a.deploy(map[string]string{"index.html": text("home"), "renamed.html": text("post")})
	a.call(send.LinkCall{Method: send.Unlink, Source: renamed, Target: moved})
	b.doubt(renamed, moved, 17)
	c.Pass(7 * time.Hour)
	b.wait("", renamed, moved, incoming.Gone)
	a.call(send.LinkCall{Method: send.Unlink, Source: renamed, Target: moved}) // LK-43
}
