package notify

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// FetchOptions returns the options of the client that the configuration names.
// version is that of sitelink; base takes the place of a contact that is not
// configured. The error is about networks that the configuration cannot allow.
func FetchOptions(cfg *config.Config, version, base string) (outgoing.ClientOptions, error) {
	networks, err := cfg.Networks()
	contact := cfg.Outgoing.Contact
	if contact == "" {
		contact = base
	}
	opt := outgoing.ClientOptions{UserAgent: UserAgent(version, contact), AllowAddresses: networks, Pace: cfg.Outgoing.Pace, Timeout: cfg.Fetch.Timeout}
	if opt.Pace == 0 {
		opt.Pace = -1
	}
	if cfg.Fetch.Proxy {
		opt.Proxy = http.ProxyFromEnvironment
	}
	return opt, err
}

// home is where you can reach the authors if the contact leads nowhere.
const home = "https://github.com/sitelink/sitelink"

// UserAgent returns the value of a User-Agent field. A build may not know its
// version, or have one such as (devel) that may not be sent, and a contact may be
// any text. If it is neither an address for mail nor a public URL, the field has that of
// the project.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-10.1.5
func UserAgent(version, contact string) string {
	token := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return r
		}
		return -1
	}, version)
	agent := "sitelink"
	if token != "" {
		agent += "/" + token
	}
	if isURL := strings.Contains(contact, "://"); !isURL && !strings.Contains(contact, "@") ||
		isURL && (strings.Contains(contact, "://localhost") || strings.Contains(contact, "://127.") || strings.Contains(contact, "://[::1]")) {
		contact = strings.TrimPrefix(contact+"; +"+home, "; +")
	}
	agent += " (+"
	for _, c := range []byte(contact) {
		switch {
		case c == '(' || c == ')' || c == '\\':
			agent += "\\" + string(c)
		case c < ' ' || c >= 0x7F:
			agent += fmt.Sprintf("%%%02X", c)
		default:
			agent += string(c)
		}
	}
	return agent + ")"
}

// ownPace is the least time between two requests to the site itself.
const ownPace = 20 * time.Millisecond

// Delivery says what a delivery needs beside the configuration.
type Delivery struct {
	// Version is the version of sitelink, Base the address of the site.
	Version, Base string
	// Store keeps what is learned about hosts; nil keeps nothing.
	Store ledger.Store
}

// OwnAddress returns an error if sitelink would refuse to fetch the site itself, because its address is not on the public
// internet: then it cannot find out when a page is live. A site that does not answer yet is not an error.
func OwnAddress(ctx context.Context, cfg *config.Config, version, base string) error {
	options, err := FetchOptions(cfg, version, base)
	if err != nil {
		return err
	}
	_, err = outgoing.NewClient(options).Do(ctx, outgoing.Request{Method: http.MethodHead, URL: base})
	if err == nil || outgoing.RequestFailed(err).State != ledger.Skipped {
		return nil
	}
	return text.WithHint(fmt.Errorf("sitelink cannot find out when the site is live: %w", err),
		"if that is your site, name its address with --allow-address; otherwise correct --base-url")
}

// DeliverOptions returns the options for sending, with the senders that the
// configuration names.
func DeliverOptions(ctx context.Context, cfg *config.Config, d Delivery) (deliver.Options, error) {
	options, err := FetchOptions(cfg, d.Version, d.Base)
	if err != nil {
		return deliver.Options{}, err
	}
	client := outgoing.NewClient(options)
	own := options
	own.Pace = min(ownPace, cfg.Outgoing.Pace)
	if own.Pace == 0 {
		own.Pace = -1
	}
	opt := deliver.Options{
		Targets: client, Sources: outgoing.NewClient(own),
		Live: deliver.LiveOptions{Deadline: cfg.Outgoing.Live},
	}
	if opt.Live.Deadline == 0 {
		opt.Live.Deadline = -1
	}
	if cfg.Outgoing.Pace == 0 {
		opt.Hosts = 256
	}
	for _, protocol := range cfg.Outgoing.Protocols {
		switch ledger.Protocol(protocol) {
		case ledger.Webmention:
			opt.Senders = append(opt.Senders, send.NewWebmention(client))
		case ledger.Pingback:
			spacing := send.PingbackOptions{}
			if cfg.Outgoing.Pace == 0 {
				spacing.Spacing = -1
			}
			opt.Senders = append(opt.Senders, send.NewPingback(client, spacing))
		case ledger.WebSub:
			opt.Named = append(opt.Named, send.NewWebSub(client))
		}
	}
	// Peers are called without a request before; other hosts are asked only when
	// the configuration says so. The default configuration does neither.
	if ask := slices.Contains(cfg.Outgoing.Protocols, string(ledger.LinkMethod)); ask || len(cfg.Outgoing.LinkPeers) > 0 {
		sender, err := linkSender(ctx, cfg, client, d.Store, ask)
		if err != nil {
			return opt, err
		}
		if len(opt.Senders) == 0 {
			opt.Senders = append(opt.Senders, sender) // the only protocol for links
		} else {
			opt.Additional = append(opt.Additional, sender)
		}
	}
	return opt, nil
}

// LinkSender returns the sender for calls of the LINK draft to the hosts that opted
// in, or nil if the configuration names none and does not ask for them.
func LinkSender(ctx context.Context, cfg *config.Config, version, base string) (*send.LinkSender, error) {
	ask := slices.Contains(cfg.Outgoing.Protocols, string(ledger.LinkMethod))
	if !ask && len(cfg.Outgoing.LinkPeers) == 0 {
		return nil, nil
	}
	options, err := FetchOptions(cfg, version, base)
	if err != nil {
		return nil, err
	}
	return linkSender(ctx, cfg, outgoing.NewClient(options), nil, ask)
}

// linkSender returns the sender of LINK and UNLINK. With ask it also asks hosts
// that are not peers whether they accept them. What it learns about hosts is kept
// in the store, if there is one.
func linkSender(ctx context.Context, cfg *config.Config, client *outgoing.Client, store ledger.Store, ask bool) (*send.LinkSender, error) {
	opt := send.LinkOptions{Probe: ask}
	for _, entry := range cfg.Outgoing.LinkPeers {
		peer, err := send.ParseLinkPeer(entry)
		if err != nil {
			return nil, text.Usage("link-peers in [outgoing]: "+err.Error(), "")
		}
		opt.Peers = append(opt.Peers, peer)
	}
	if store == nil {
		return send.NewLink(client, opt), nil
	}
	snap, err := store.Load(ctx)
	if err != nil {
		return nil, err
	}
	opt.Unsupported = send.NewUnsupportedHosts(snap.Unsupported, store.RecordUnsupported)
	return send.NewLink(client, opt), nil
}

// statusWorkers is how many targets are asked at once; the client limits the
// requests to each host.
const statusWorkers = 16

// Status asks the targets that accepted a notice for later what became of it,
// records their answers in the store, and returns all of these notices.
func Status(ctx context.Context, client outgoing.Doer, store ledger.Store, snap *ledger.Snapshot) (*deliver.Report, error) {
	sender := send.NewWebmention(client)
	result := &deliver.Report{}
	for _, n := range snap.Notices {
		if n.State == ledger.Accepted && n.Location != "" {
			result.Results = append(result.Results, deliver.Outcome{Notice: n})
		}
	}
	errs := make([]error, len(result.Results))
	slots := make(chan struct{}, statusWorkers)
	var wg sync.WaitGroup
	for i := range result.Results {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			n := &result.Results[i].Notice
			o := sender.Status(ctx, n.Location)
			n.Message = o.Message
			if o.State == ledger.Done || o.State == ledger.Permanent {
				n.State = o.State
				errs[i] = store.Record(context.WithoutCancel(ctx), n.Key, *n)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return result, nil
}
