package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// entry is what a line of the journal says.
type entry struct {
	Begin  json.RawMessage `json:"begin"`
	Record json.RawMessage `json:"record"`
	From   json.RawMessage `json:"from"`
	Peer   json.RawMessage `json:"peer"`
}

func beginEntry(k Key) []byte {
	return append(appendKey([]byte(`{"begin":`), k), '}')
}

func recordEntry(from Key, n *Notice) []byte {
	dst := appendNotice([]byte(`{"record":`), n)
	if from != n.Key {
		dst = appendKey(append(dst, `,"from":`...), from)
	}
	return append(dst, '}')
}

func peerEntry(p *Peer) []byte {
	return append(appendPeer([]byte(`{"peer":`), p), '}')
}

// replay applies a journal to the book, and returns how many of its bytes are
// whole: a last line that a crash tore is left out. Other lines that cannot be
// read are kept aside.
func (p *parsed) replay(name, text string) (whole int64) {
	for number := 1; text != ""; number++ {
		line, rest, ended := strings.Cut(text, "\n")
		var err error
		if ended {
			err = p.enter(line)
		}
		switch {
		case !ended, err != nil && rest == "":
			p.fault(name, number, "the last line was torn by a crash, and is dropped", false)
			return whole
		case err != nil:
			p.fault(name, number, err.Error()+"; the line is kept aside", true)
			p.damaged = append(p.damaged, line)
		}
		p.changed = true
		whole += int64(len(line)) + 1
		text = rest
	}
	return whole
}

// enter applies one line.
func (p *parsed) enter(line string) error {
	sum, text, ok := strings.Cut(line, " ")
	want, err := strconv.ParseUint(sum, 16, 32)
	if !ok || len(sum) != 8 || err != nil {
		return errors.New("no entry of a journal")
	}
	if uint64(crc32.Checksum([]byte(text), castagnoli)) != want {
		return errors.New("the check sum is wrong")
	}
	var e entry
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return fmt.Errorf("no JSON object: %w", err)
	}
	switch {
	case e.Begin != nil:
		k, err := parseKey(string(e.Begin))
		if err != nil {
			return err
		}
		p.begin(k)
	case e.Record != nil:
		var r row
		if err := parseRow(&r, string(e.Record)); err != nil {
			return err
		}
		if !r.isNotice() {
			return errors.New("record: want a notice")
		}
		from := r.notice.Key
		if e.From != nil {
			var err error
			if from, err = parseKey(string(e.From)); err != nil {
				return err
			}
		}
		p.record(from, r.notice)
	case e.Peer != nil:
		var r row
		if err := parseRow(&r, string(e.Peer)); err != nil {
			return err
		}
		if !r.isPeer() {
			return errors.New("peer: want a peer")
		}
		p.remember(r.peer)
	default:
		return errors.New("unknown entry")
	}
	return nil
}

func parseKey(text string) (Key, error) {
	var k Key
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return k, fmt.Errorf("no key: %w", err)
	}
	if k.Source == "" || k.Target == "" {
		return k, errors.New("a key without address")
	}
	return k, nil
}
