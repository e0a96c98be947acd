package fetch

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// One POST, here and by net/http alone with a connection of its own for each:
// the guard, the pacer and the limits cost 2 KB and 33 allocations, and no
// measurable time.
func BenchmarkPost(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	body := bytes.Repeat([]byte("a=b&"), 50)
	b.Run("fetch", func(b *testing.B) {
		c := local(Options{})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Do(b.Context(), Request{Method: http.MethodPost, URL: server.URL, Body: body}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		b.ReportAllocs()
		for b.Loop() {
			resp, err := c.Post(server.URL, "text/plain", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
}
