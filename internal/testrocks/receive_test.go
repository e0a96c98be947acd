package testrocks

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestReceive: a good receiver passes both cases, and each fault is found.
func TestReceive(t *testing.T) {
	valid := func(r *http.Request) bool {
		return strings.HasPrefix(r.FormValue("source"), "http") && strings.HasPrefix(r.FormValue("target"), "http")
	}
	for _, test := range []struct {
		name, want string
		status     int
		location   string
		junk       int
	}{
		{"accepted", "", 202, "", 400},
		{"created", "", 201, "/status/1", 400},
		{"created without location", "receive 1: 201 without Location", 201, "", 400},
		{"accepted with location", "receive 1: 202 Accepted with Location", 202, "/x", 400},
		{"refused", "receive 1: 403 Forbidden", 403, "", 400},
		{"takes junk", "receive 2: 202 Accepted", 202, "", 202},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !valid(r) {
				w.WriteHeader(test.junk)
				return
			}
			if test.location != "" {
				w.Header().Set("Location", test.location)
			}
			w.WriteHeader(test.status)
		}))
		err := Receive(server.URL, "http://a.example/", "http://b.example/")
		server.Close()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
