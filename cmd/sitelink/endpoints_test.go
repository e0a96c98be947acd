package main

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/testkit"
)

// The script check_endpoints shows every code about endpoints.
func TestEndpointCodes(t *testing.T) {
	script := testkit.Read(t, "testdata/script/check_endpoints.txtar")
	n := 0
	for _, code := range report.Codes() {
		if !strings.HasPrefix(code, "endpoint-") {
			continue
		}
		n++
		if !strings.Contains(string(script), `"code":"`+code+`"`) && !strings.Contains(string(script), `[`+code+`\]`) {
			t.Errorf("the script does not show %s", code)
		}
	}
	if n < 12 {
		t.Errorf("only %d codes about endpoints", n)
	}
}
