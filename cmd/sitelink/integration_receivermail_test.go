//go:build integration && unix

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestServeReports: a running receiver sends a mail through Python's SMTP server and
// calls a webhook when a mention is held.
func TestServeReports(t *testing.T) {
	const secret = "0123456789abcdef0123"
	address := testkit.FreePort(t)
	mail := &lockedBuffer{}
	server := exec.Command("python3", "-u", "-W", "ignore", "-m", "smtpd", "-n", "-c", "DebuggingServer", address)
	server.Stdout, server.Stderr = mail, mail
	if err := server.Start(); err != nil {
		t.Fatalf("python3 with the module smtpd: %v", err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })

	type call struct {
		valid bool
		body  []byte
	}
	calls := make(chan call, 8)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sum := hmac.New(sha256.New, []byte(secret))
		io.WriteString(sum, r.Header.Get("Sitelink-Timestamp")+".")
		sum.Write(body)
		calls <- call{r.Header.Get("Sitelink-Signature") == "sha256="+hex.EncodeToString(sum.Sum(nil)), body}
	}))
	defer hook.Close()

	t.Setenv("SITELINK_WEBHOOK_SECRET", secret)
	r := startServe(t)
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	r.write("sitelink.toml", "[incoming]\nmail-server = '"+address+"'\nmail-from = 'site@blog.example'\nmail-to = ['author@blog.example']\nwebhook = '"+hook.URL+
		"'\nreport-every = '1s'\nmoderation = 'https://blog.example/moderation'\n")
	r.start("--config", "sitelink.toml")
	source := r.sources.URL + "/links/reported"
	r.webmention(source, servedBase+"post/")
	r.until(source, "held")

	var got call
	select {
	case got = <-calls:
	case <-time.After(2 * time.Minute):
		t.Fatalf("the webhook was not called\n%s", r.messages)
	}
	var message struct {
		Event, Moderation string
		New, Held         int
		Mentions          []listed
	}
	if err := json.Unmarshal(got.body, &message); err != nil || !got.valid || message.New != 1 || message.Held != 1 || message.Moderation != "https://blog.example/moderation" ||
		len(message.Mentions) != 1 || message.Mentions[0].Source != source {
		t.Errorf("webhook: signature %v, %v\n%s", got.valid, err, got.body)
	}
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(mail.String(), source); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no mail arrived:\n%s\n%s", mail, r.messages)
		}
	}
	for _, want := range []string{"author@blog.example", "Subject: ", "https://blog.example/moderation"} {
		if !strings.Contains(mail.String(), want) {
			t.Errorf("the mail lacks %q:\n%s", want, mail)
		}
	}
	t.Logf("%s", mail)
}
