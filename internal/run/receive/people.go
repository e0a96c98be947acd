package receive

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/moderation"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing"
)

// forPeople is the part of a receiver that people use: rules in a file, the web
// page for decisions, and messages.
type forPeople struct {
	store    incoming.Store
	rules    string // a file, "" for none
	warn     func(string)
	page     http.Handler // nil for none
	notifier *moderation.Notifier
	read     time.Time // when the file had changed that was read last
}

// people makes the part that the configuration asks for.
func people(p *project.Project, opt *ServeOptions, r *parts) (*forPeople, error) {
	in := &p.Config.Incoming
	h := &forPeople{store: r.store, rules: RulesFile(p), warn: opt.Warn}
	if in.Moderation != "" {
		key, err := moderationKey(p, opt.Getenv, true)
		if err != nil {
			return nil, err
		}
		page, err := moderation.NewPage(moderation.PageOptions{Store: r.store, Address: in.Moderation, Key: key, Log: r.log, SaveRule: h.saveRule()})
		if err != nil {
			return nil, text.Usage("moderation in [incoming]: "+err.Error(), "")
		}
		h.page = page
		opt.Note("decisions: " + in.Moderation + "; sitelink mentions login prints a link")
	}
	if in.MailServer == "" && in.Webhook == "" {
		return h, nil
	}
	o := moderation.NotifierOptions{Store: r.store, Every: in.ReportEvery, Address: in.Moderation, Log: r.log}
	if in.MailServer != "" {
		o.Mail = &moderation.Mail{
			Server: in.MailServer, User: in.MailUser, Password: opt.Getenv("SITELINK_MAIL_PASSWORD"), From: in.MailFrom, To: in.MailTo,
		}
	}
	if in.Webhook != "" {
		o.Webhook = &moderation.Webhook{
			URL: in.Webhook, Secret: []byte(opt.Getenv("SITELINK_WEBHOOK_SECRET")),
			Client: outgoing.NewClient(outgoing.ClientOptions{AllowAddresses: in.AllowAddress, Timeout: p.Config.Fetch.Timeout}),
		}
	}
	if name := StoreName(p); notify.IsFile(name) {
		o.State = p.Abs(name) + "-reported"
	}
	notifier, err := moderation.NewNotifier(o)
	if err != nil {
		return nil, text.Usage("[incoming]: "+err.Error(), "")
	}
	h.notifier = notifier
	return h, nil
}

// saveRule returns a function that writes a rule into the file of rules, nil if there
// is no file.
func (h *forPeople) saveRule() func(context.Context, incoming.Rule) error {
	if h.rules == "" {
		return nil
	}
	return func(ctx context.Context, r incoming.Rule) error {
		return writeRules(ctx, h.store, h.rules, []incoming.Rule{r})
	}
}

// RulesFile returns the file of rules that the configuration names, "" for none.
func RulesFile(p *project.Project) string {
	if p.Config.Incoming.Rules == "" {
		return ""
	}
	return p.Abs(p.Config.Incoming.Rules)
}

// rulesEvery is how often a change of the file of rules is looked for: the receiver
// obeys a rule within a second.
const rulesEvery = time.Second

// run follows the file of rules, and reports held mentions.
func (h *forPeople) run(ctx context.Context) error {
	var done sync.WaitGroup
	defer done.Wait()
	if h.notifier != nil {
		done.Go(func() { h.notifier.Run(ctx) }) // it logs what it could not send
	}
	if h.rules == "" {
		<-ctx.Done()
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(rulesEvery):
		}
		info, err := os.Stat(h.rules)
		if err != nil || info.ModTime().Equal(h.read) {
			continue
		}
		if err := h.readRules(ctx); err != nil && ctx.Err() == nil {
			h.warn(err.Error() + "; the rules stay as they were")
			h.read = info.ModTime() // report it once
		}
	}
}

// readRules applies the file of rules to the store.
func (h *forPeople) readRules(ctx context.Context) error {
	if h.rules == "" {
		return nil
	}
	rules, changed, err := readRules(ctx, h.store, h.rules)
	if err != nil {
		return err
	}
	if _, err := moderation.Apply(ctx, h.store, rules); err != nil {
		return err
	}
	h.read = changed
	return nil
}

// readRules reads a file of rules. A file that does not exist has none, unless the store
// has some: then the file was lost, or it is not the right one.
func readRules(ctx context.Context, store incoming.Store, name string) (rules []incoming.Rule, changed time.Time, err error) {
	f, err := system.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		kept, err := store.Rules(ctx)
		if len(kept) > 0 {
			err = text.WithHint(fmt.Errorf("there is no file of rules %s, and the store has %d", name, len(kept)), "restore the file, or create an empty one to remove the rules of the store")
		}
		return nil, time.Time{}, err
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read rules %s: %w", name, system.Cause(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		changed = info.ModTime()
		rules, err = moderation.ParseRules(f)
	}
	if err != nil {
		return nil, changed, fmt.Errorf("read rules %s: %w", name, system.Cause(err))
	}
	return rules, changed, nil
}

// lockWait is how long writeRules waits for others that write the same file.
const lockWait = 10 * time.Second

// writeRules changes rules in a file. Others that change it meanwhile wait: the file beside
// it is their lock, and goes when it is no longer used.
func writeRules(ctx context.Context, store incoming.Store, name string, changes []incoming.Rule) error {
	lock := name + ".lock"
	for end := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		f, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return fmt.Errorf("lock rules %s: %w", name, system.Cause(err))
		}
		defer f.Close()
		err = system.TryLock(f)
		mine, _ := f.Stat()
		if there, statErr := os.Stat(lock); err == nil && statErr == nil && os.SameFile(mine, there) {
			defer os.Remove(lock)
			break
		}
		f.Close()
		switch {
		case err != nil && !errors.Is(err, system.ErrLocked):
			return fmt.Errorf("lock rules %s: %w", name, system.Cause(err))
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(end):
			return fmt.Errorf("lock rules %s: another sitelink has been writing them for %v; end it, and try again", name, lockWait)
		}
	}
	rules, _, err := readRules(ctx, store, name)
	if err != nil {
		return err
	}
	byPattern := map[string]incoming.Rule{}
	for _, list := range [][]incoming.Rule{rules, changes} {
		for _, r := range list {
			byPattern[r.Pattern] = r
		}
	}
	rules = rules[:0]
	for _, r := range byPattern {
		if r.Verdict != "" {
			rules = append(rules, r)
		}
	}
	old, err := system.Read(name, moderation.MaxRules)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read rules %s: %w", name, system.Cause(err))
	}
	text := moderation.UpdateRules(old, rules)
	if bytes.Equal(text, old) {
		return nil
	}
	return system.WriteFile(name, text, 0)
}

// moderationKey returns the key that signs login links: that of the environment, or
// of a file beside the store, which it makes if create is set.
func moderationKey(p *project.Project, getenv func(string) string, create bool) ([]byte, error) {
	const least = 16
	if given := getenv("SITELINK_MODERATION_KEY"); given != "" {
		if len(given) < least {
			return nil, text.Usage(fmt.Sprintf("SITELINK_MODERATION_KEY: must have at least %d bytes", least), "make one: openssl rand -hex 16")
		}
		return []byte(given), nil
	}
	store := StoreName(p)
	if !notify.IsFile(store) {
		return nil, text.Usage("login links need a key", "set SITELINK_MODERATION_KEY to the same secret for the receiver and for this command: openssl rand -hex 16")
	}
	name := p.Abs(store) + ".key"
	key, err := system.Read(name, 4096)
	if errors.Is(err, fs.ErrNotExist) && create {
		key := make([]byte, 2*least)
		rand.Read(key)
		text := hex.EncodeToString(key) + "\n"
		if err := system.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, err
		}
		return bytes.TrimSpace([]byte(text)), nil
	}
	if err != nil {
		return nil, text.WithHint(fmt.Errorf("read key %s: %w", p.Show(name), system.Cause(err)), "start sitelink serve with moderation in [incoming], which makes it")
	}
	if key = bytes.TrimSpace(key); err == nil && len(key) < least {
		err = errors.New("it is too short")
	}
	if err != nil {
		return nil, text.WithHint(fmt.Errorf("read key %s: %w", p.Show(name), system.Cause(err)), "delete "+filepath.Base(name)+"; sitelink serve makes a new one")
	}
	return key, nil
}

// LoginLink returns a link to the moderation page that logs in once.
func LoginLink(p *project.Project, getenv func(string) string) (string, error) {
	address := p.Config.Incoming.Moderation
	if address == "" {
		return "", text.Usage("there is no moderation page", `set its address: moderation = "https://receiver.example/moderation" in [incoming]`)
	}
	key, err := moderationKey(p, getenv, false)
	if err != nil {
		return "", err
	}
	return moderation.SignedLink(address, key, time.Now())
}
