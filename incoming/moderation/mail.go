package moderation

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/netip"
	"net/smtp"
	"strings"
	"time"
)

// Mail sends mails through an SMTP server.
type Mail struct {
	// Server is its host and port: mail.example.org:587. The connection is encrypted
	// from the beginning on port 465, and otherwise with STARTTLS, which a server
	// elsewhere must offer. A server on the machine itself gets plain text.
	Server string
	// User and Password are those of the account, if the server wants one.
	User, Password string
	From           string
	To             []string
	// TLS replaces the configuration of encrypted connections, as for a certificate of
	// your own; nil means that of the system.
	TLS *tls.Config
	// Timeout limits a mail as a whole: one minute by default.
	Timeout time.Duration
}

// mailer is a checked Mail.
type mailer struct {
	Mail
	host  string
	local bool
	from  *mail.Address
	to    []*mail.Address
}

func (m *Mail) check() (*mailer, error) {
	c := &mailer{Mail: *m}
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	host, port, err := net.SplitHostPort(m.Server)
	if err != nil || host == "" || port == "" {
		return nil, fmt.Errorf("the mail server %q is not a host and a port such as mail.example.org:587", m.Server)
	}
	addr, err := netip.ParseAddr(host)
	c.host, c.local = host, host == "localhost" || err == nil && addr.IsLoopback()
	if c.from, err = parseAddress(m.From); err != nil {
		return nil, fmt.Errorf("the sender of mails %q: %w", m.From, err)
	}
	if len(m.To) == 0 {
		return nil, errors.New("no recipient of mails is named")
	}
	for _, to := range m.To {
		address, err := parseAddress(to)
		if err != nil {
			return nil, fmt.Errorf("the recipient of mails %q: %w", to, err)
		}
		c.to = append(c.to, address)
	}
	return c, nil
}

// parseAddress parses one address. What it returns cannot end a line of a header: the
// name is encoded, and the address has no control characters.
func parseAddress(text string) (*mail.Address, error) {
	a, err := mail.ParseAddress(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "mail: "))
	}
	if strings.IndexFunc(a.Address, func(r rune) bool { return r <= ' ' || r >= 0x7F }) >= 0 {
		return nil, errors.New("the address has characters other than ASCII")
	}
	return a, nil
}

// compose returns a mail. Its header has nothing from a stranger, and the body is
// encoded.
func (m *mailer) compose(msg *Message, now time.Time) ([]byte, error) {
	subject := fmt.Sprintf("%d new mentions wait for a decision", msg.New)
	if msg.New == 1 {
		subject = "1 new mention waits for a decision"
	}
	var to []string
	for _, a := range m.to {
		to = append(to, a.String())
	}
	_, domain, _ := strings.Cut(m.from.Address, "@")
	var b bytes.Buffer
	fmt.Fprintf(&b, "From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\nMessage-ID: <%s@%s>\r\n", m.from.String(), strings.Join(to, ",\r\n "), subject,
		now.Format(time.RFC1123Z), rand.Text(), domain)
	b.WriteString("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\nAuto-Submitted: auto-generated\r\n\r\n")

	var text strings.Builder
	for _, mention := range msg.Mentions {
		fmt.Fprintf(&text, "%s\n  from %s\n  to   %s\n\n", cmp.Or(oneLine(mention.Title), "(no title)"), oneLine(mention.Source), oneLine(mention.Target))
	}
	if more := msg.New - len(msg.Mentions); more > 0 {
		fmt.Fprintf(&text, "And %d more.\n\n", more)
	}
	fmt.Fprintf(&text, "Held mentions in total: %d\n", msg.Held)
	if msg.Address != "" {
		fmt.Fprintf(&text, "Decide at %s\n", oneLine(msg.Address))
	}
	w := quotedprintable.NewWriter(&b)
	if _, err := w.Write([]byte(strings.ReplaceAll(text.String(), "\n", "\r\n"))); err != nil {
		return nil, err
	}
	return b.Bytes(), w.Close()
}

func (m *mailer) send(ctx context.Context, msg *Message, now time.Time) error {
	text, err := m.compose(msg, now)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	if err := m.deliver(ctx, text); err != nil {
		return fmt.Errorf("send a mail through %s: %w", m.Server, err)
	}
	return nil
}

func (m *mailer) deliver(ctx context.Context, text []byte) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.Server)
	if err != nil {
		return err
	}
	defer conn.Close()
	plain := conn
	stop := context.AfterFunc(ctx, func() { plain.SetDeadline(time.Unix(1, 0)) }) // ends every read and write
	defer stop()
	config := m.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	config.ServerName = cmp.Or(config.ServerName, m.host)
	_, port, _ := net.SplitHostPort(m.Server)
	encrypted := port == "465"
	if encrypted {
		conn = tls.Client(conn, config)
	}
	c, err := smtp.NewClient(conn, m.host)
	if err != nil {
		return err
	}
	defer c.Close()
	if offered, _ := c.Extension("STARTTLS"); !encrypted && (offered && (!m.local || m.TLS != nil)) {
		if err := c.StartTLS(config); err != nil {
			return fmt.Errorf("STARTTLS: %w", err)
		}
		encrypted = true
	}
	if !encrypted && !m.local {
		return errors.New("the server offers no encryption; use its port 465 or 587, or a server on this machine")
	}
	if m.User != "" {
		if err := c.Auth(smtp.PlainAuth("", m.User, m.Password, m.host)); err != nil {
			return fmt.Errorf("log in: %w", err)
		}
	}
	if err := c.Mail(m.from.Address); err != nil {
		return err
	}
	for _, to := range m.to {
		if err := c.Rcpt(to.Address); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	c.Quit() // the mail is accepted; how the connection ends does not matter
	return nil
}
