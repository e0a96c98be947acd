package moderation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
)

const rulesFile = `# Friends first.
trust Friend.Example            # an old friend

hold  *.big.example
block https://big.example/%7Espam/ # a user
block 192.0.2.7
`

func TestRulesFile(t *testing.T) {
	rules, err := ParseRules(strings.NewReader("\uFEFF" + strings.ReplaceAll(rulesFile, "\n", "\r\n")))
	want := []incoming.Rule{
		{Pattern: "192.0.2.7", Verdict: incoming.Block},
		{Pattern: "big.example", Verdict: incoming.Hold},
		{Pattern: "friend.example", Verdict: incoming.Trust, Note: "an old friend"},
		{Pattern: "https://big.example/~spam/", Verdict: incoming.Block, Note: "a user"},
	}
	if err != nil || !slices.Equal(rules, want) {
		t.Fatalf("%+v, %v", rules, err)
	}
	if got := UpdateRules([]byte(rulesFile), rules); string(got) != rulesFile {
		t.Errorf("an unchanged file was rewritten:\n%s", got)
	}

	// A change, a removal and two new rules leave all other lines as they are.
	rules[1].Verdict, rules[1].Note = incoming.Block, "line\nbreak"
	rules = append(slices.Delete(rules, 0, 1), incoming.Rule{Pattern: "z.example", Verdict: incoming.Trust}, incoming.Rule{Pattern: "a.example", Verdict: incoming.Hold})
	const changed = `# Friends first.
trust Friend.Example            # an old friend

block big.example # line break
block https://big.example/%7Espam/ # a user
hold  a.example
trust z.example
`
	got := UpdateRules([]byte(rulesFile), rules)
	if string(got) != changed {
		t.Errorf("got:\n%s\nwant:\n%s", got, changed)
	}
	again, err := ParseRules(bytes.NewReader(got))
	if err != nil || len(again) != len(rules) {
		t.Errorf("%+v, %v", again, err)
	}
	if got := UpdateRules(nil, rules); !bytes.HasPrefix(got, []byte("# Rules")) || !bytes.HasSuffix(got, []byte("\ntrust z.example\n")) {
		t.Errorf("a new file:\n%s", got)
	}

	_, err = ParseRules(strings.NewReader("trust a.example\nallow b.example\nblock\nblock a.example b.example\nhold a.example\nblock http://\n"))
	for _, want := range []string{`line 2: "allow" is not a verdict; write trust, hold or block`, "line 3: want block and one pattern, got 0", "line 4: want block and one pattern, got 2",
		"line 5: a.example has a rule in line 1", "line 6: pattern \"http://\""} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

// FuzzRules: what UpdateRules writes has exactly the rules that it was given.
func FuzzRules(f *testing.F) {
	f.Add(rulesFile, "a.example", "note # x")
	f.Add("block x\n\x00", "https://b.example/#x", "\n block c.example")
	f.Add("trust b.example # x\nwrong line", "b.example", "")
	f.Fuzz(func(t *testing.T, old, pattern, note string) {
		pattern, err := incoming.ParsePattern(pattern)
		if err != nil || strings.ContainsFunc(pattern, func(r rune) bool { return r <= ' ' }) {
			return
		}
		rules := []incoming.Rule{{Pattern: pattern, Verdict: incoming.Block, Note: oneLine(note)}}
		got, err := ParseRules(bytes.NewReader(UpdateRules([]byte(old), rules)))
		if err != nil || !slices.Equal(got, rules) {
			t.Errorf("%+v became %+v, %v", rules, got, err)
		}
	})
}

func TestApply(t *testing.T) {
	store := incomingtest.NewStore(nil)
	ctx := t.Context()
	rules := testkit.Must(ParseRules(strings.NewReader(rulesFile)))(t)
	testkit.Check(t, store.SetRules(ctx, []incoming.Rule{{Pattern: "old.example", Verdict: incoming.Block}, rules[0]}))
	if n, err := Apply(ctx, store, rules); n != 4 || err != nil { // 3 new, 1 removed
		t.Errorf("%d changes, %v", n, err)
	}
	if n, err := Apply(ctx, store, rules); n != 0 || err != nil {
		t.Errorf("again: %d changes, %v", n, err)
	}
	if got, err := store.Rules(ctx); err != nil || !slices.Equal(got, rules) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBlockList(t *testing.T) {
	const list = `# Title: a list
! uBlock comment
[Adblock Plus 2.0]
; another
spam.example
SPAM.example.
*.wild.example   # all of it
0.0.0.0 hosts.example other.example
127.0.0.1 localhost
::1 ip6-localhost ip6-loopback
||filter.example^
||third.example^$third-party,important
||part.example^$domain=a.example
||path.example/ads/*
@@||good.example^
##.banner
https://big.example/~spam/
address=/dnsmasq.example/0.0.0.0
"json.example",
two words.example
nodots
bad_/host
münchen.example
` + "\tspaced.example\r\n"
	rules, skipped, err := ParseBlockList(strings.NewReader(list), "from a list")
	testkit.Check(t, err)
	var patterns []string
	for _, r := range rules {
		patterns = append(patterns, r.Pattern)
		if r.Verdict != incoming.Block || r.Note != "from a list" {
			t.Errorf("%+v", r)
		}
	}
	want := "dnsmasq.example filter.example hosts.example https://big.example/~spam/ json.example other.example spaced.example spam.example third.example wild.example xn--mnchen-3ya.example"
	if got := strings.Join(patterns, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var lines []string
	for _, s := range skipped {
		lines = append(lines, fmt.Sprint(s.Line))
	}
	if got := strings.Join(lines, " "); got != "13 14 15 20 21 22" {
		t.Errorf("skipped lines %s: %+v", got, skipped)
	}
}

func TestDecide(t *testing.T) {
	ctx, now := t.Context(), time.Unix(1700000000, 0)
	store := incomingtest.NewStore(nil)
	at := func(source string, state incoming.State, verified time.Time) string {
		return store.Add(incoming.Mention{Source: source, Target: "https://our.example/", State: state, Verified: verified})[0]
	}
	held, queued := at("https://a.example/", incoming.Held, now), at("https://b.example/", incoming.Queued, time.Time{})
	sub, approved := at("https://x.a.example/", incoming.Held, now), at("https://y.a.example/", incoming.Approved, now)
	other := at("https://nota.example/", incoming.Held, now)
	state := func(id string) incoming.State {
		m := testkit.Must(store.Mention(ctx, id))(t)
		return m.State
	}
	if _, _, err := Approve(ctx, store, queued, now); err == nil || state(queued) != incoming.Queued {
		t.Errorf("a mention that was never verified: %v", err)
	}
	if _, err := Deny(ctx, store, held); err != nil || state(held) != incoming.Refused {
		t.Error(err)
	}
	// Those that wait follow, unless they are by others, or held by a rule, or lost their link.
	same, shared := at("https://a.example/2", incoming.Held, now), at("https://github.com/b/x", incoming.Held, now)
	lost := store.Add(incoming.Mention{Source: "https://a.example/3", Target: "https://our.example/", State: incoming.Held, Verified: now, Fault: 17})[0]
	if m, more, err := Approve(ctx, store, held, now); err != nil || m.State != incoming.Approved || !m.Due.Equal(now) || more != 1 || state(same) != incoming.Approved || state(lost) != incoming.Held || state(sub) != incoming.Held {
		t.Errorf("%+v, %d more, %v: %s %s %s", m, more, err, state(same), state(lost), state(sub))
	}
	if _, more, err := Approve(ctx, store, at("https://github.com/a/x", incoming.Held, now), now); err != nil || more != 0 || state(shared) != incoming.Held {
		t.Errorf("another author of a host: %d more, %v", more, err)
	}
	testkit.Check(t, store.SetRules(ctx, []incoming.Rule{{Pattern: "github.com", Verdict: incoming.Hold}}))
	if _, more, err := Approve(ctx, store, at("https://github.com/b/y", incoming.Held, now), now); err != nil || more != 0 || state(shared) != incoming.Held {
		t.Errorf("held by a rule: %d more, %v", more, err)
	}
	if n, err := SetRule(ctx, store, incoming.Rule{Pattern: "*.A.example", Verdict: incoming.Block}, now); n != 5 || err != nil {
		t.Errorf("%d changed, %v", n, err)
	}
	if state(sub) != incoming.Blocked || state(approved) != incoming.Blocked || state(other) != incoming.Held {
		t.Errorf("%s %s %s", state(sub), state(approved), state(other))
	}
	if n, err := SetRule(ctx, store, incoming.Rule{Pattern: "nota.example", Verdict: incoming.Trust}, now); n != 1 || err != nil || state(other) != incoming.Approved {
		t.Errorf("%d changed, %v", n, err)
	}
	if _, err := SetRule(ctx, store, incoming.Rule{Pattern: "a.example"}, now); err != nil {
		t.Error(err)
	}
	if rules, _ := store.Rules(ctx); len(rules) != 2 || rules[1].Pattern != "nota.example" {
		t.Errorf("%+v", rules)
	}
	if _, err := SetRule(ctx, store, incoming.Rule{Pattern: "http://", Verdict: incoming.Block}, now); err == nil {
		t.Error("a wrong pattern passes")
	}
}
