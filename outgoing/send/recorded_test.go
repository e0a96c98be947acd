package send

import (
	"bytes"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan/data"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// TestRecorded reads the responses of Debian's WordPress to our calls, which the
// integration test recorded (-update), and compares our calls with the recorded
// ones: PB-36, PB-38, PB-39.
func TestRecorded(t *testing.T) {
	const dir = "testdata/wordpress"
	want := map[string]struct {
		state ledger.State
		code  int
	}{
		"registered.txt": {ledger.Done, success}, "registered-later.txt": {ledger.Done, success},
		"fault-48.txt": {ledger.Done, 48}, "fault-429.txt": {ledger.Retry, 429}, "fault-409.txt": {ledger.Permanent, 409},
		"fault-0.txt": {ledger.Retry, 0}, "fault-16.txt": {ledger.Retry, 16}, "fault-17.txt": {ledger.Permanent, 17},
		"fault-32.txt": {ledger.Permanent, 32}, "fault-33.txt": {ledger.Permanent, 33}, "fault-33-missing.txt": {ledger.Permanent, 33},
		"fault-32601.txt": {ledger.Permanent, -32601}, "masked-no-link.txt": {ledger.Retry, 0},
		"masked-no-title.txt": {ledger.Retry, 0}, "masked-closed.txt": {ledger.Retry, 0},
	}
	files := testkit.Must(os.ReadDir(dir))(t)
	if len(files) != len(want) {
		t.Errorf("%d recordings, want %d", len(files), len(want))
	}
	for _, file := range files {
		text := testkit.Read(t, path.Join(dir, file.Name()))
		parts := bytes.SplitN(text, []byte("\n\n"), 3)
		if len(parts) != 3 {
			t.Fatalf("%s: %d parts", file.Name(), len(parts))
		}
		call := testkit.Must(parseResponse(data.MessageText(parts[1], "", document(), ""), true))(t)
		values := call.find("string")
		if len(values) != 2 {
			t.Fatalf("%s: %s", file.Name(), parts[1])
		}
		if again, err := encodeCall(values[0].all(), values[1].all()); err != nil || strings.TrimSpace(string(again)) != string(parts[1]) {
			t.Errorf("%s: the call is now %s, %v", file.Name(), again, err)
		}
		r, err := decodeReply(parts[2], "text/xml; charset=UTF-8")
		if err != nil {
			t.Errorf("%s: %v", file.Name(), err)
			continue
		}
		expected, known := want[file.Name()]
		switch {
		case !known:
			t.Errorf("%s is not expected", file.Name())
		case r.fault == nil:
			if expected.code != success || !strings.Contains(r.text, "registered. Keep the web talking! :-)") {
				t.Errorf("%s: %q", file.Name(), r.text)
			}
		case r.fault.code != expected.code || classify(r.fault, 0).state != expected.state:
			t.Errorf("%s: %+v, %s", file.Name(), r.fault, classify(r.fault, 0).state)
		}
	}
}

// success means that there is no fault.
const success = -1
