package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// truth is what a person with a browser would say about a link.
type truth int

const (
	works truth = iota
	dead
	// unscored: a person has to decide. A soft 404 answers 200.
	unscored
)

func (t truth) String() string { return [...]string{"works", "dead", "not scored"}[t] }

// kind is a way in which the servers of the web answer.
type kind struct {
	name  string
	truth truth
	serve func(w http.ResponseWriter, r *http.Request, v *visit)
}

// visit is what a server knows about a request.
type visit struct {
	times int // the URL was asked for before, in this run of a program
	seed  int // of the URL
	// elsewhere: it is for another address of the host than the link.
	elsewhere bool
}

// reset closes the connection with a reset.
func reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

// address is a link of the web.
type address struct {
	url  string
	kind *kind
	seed int
}

// web is a loopback web whose truth is known. Its hosts are addresses of 127.0.0.0/8.
type web struct {
	all       []address
	authority []byte // certificate of the authority of good hosts, PEM
	servers   []*http.Server

	mu     sync.Mutex
	times  map[string]int
	log    map[string][]time.Time // requests by host
	byHost map[string]*address
}

// newWeb starts a web with a host and a link for each kind.
func newWeb(kinds []kind) (*web, error) {
	w := &web{times: map[string]int{}, log: map[string][]time.Time{}, byHost: map[string]*address{}}
	plain, err := w.listen(nil)
	if err != nil {
		return nil, err
	}
	authority, sign, err := newAuthority()
	if err != nil {
		return nil, err
	}
	w.authority = authority
	tlsPorts := map[string]int{}
	now := time.Now()
	good := func(change func(c *tls.Config)) *tls.Config {
		c := sign(now.Add(24*time.Hour), "", byAuthority)
		change(c)
		return c
	}
	for name, c := range map[string]*tls.Config{
		"HTTP/2":                      good(func(*tls.Config) {}),
		"certificate expired":         sign(now.Add(-time.Hour), "", byAuthority),
		"certificate of another host": sign(now.Add(24*time.Hour), "other.example", byAuthority),
		"certificate signs itself":    sign(now.Add(24*time.Hour), "", byItself),
		"an intermediate is missing":  sign(now.Add(24*time.Hour), "", byIntermediate),
		"TLS demands a certificate":   good(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }),
		"TLS asks for a certificate":  good(func(c *tls.Config) { c.ClientAuth = tls.RequestClientCert }),
		"TLS 1.2 only":                good(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }),
	} {
		if tlsPorts[name], err = w.listen(c); err != nil {
			return nil, err
		}
	}
	unused, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		return nil, err
	}
	closed := unused.Addr().(*net.TCPAddr).Port
	unused.Close()
	for i := range kinds {
		k := &kinds[i]
		host, scheme, port := fmt.Sprintf("127.2.%d.%d", i/200, 1+i%200), "http", plain
		if p, ok := tlsPorts[k.name]; ok {
			scheme, port = "https", p
		} else if k.serve == nil {
			port = closed
		}
		w.all = append(w.all, address{url: fmt.Sprintf("%s://%s:%d/%d", scheme, host, port, i), kind: k, seed: i})
	}
	for i := range w.all {
		u, err := url.Parse(w.all[i].url)
		if err != nil {
			return nil, err
		}
		w.byHost[u.Hostname()] = &w.all[i]
	}
	return w, nil
}

// listen starts a server on all addresses of loopback.
func (w *web) listen(c *tls.Config) (port int, err error) {
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		return 0, fmt.Errorf("start the loopback web: %w", err)
	}
	s := &http.Server{Handler: w, TLSConfig: c, ErrorLog: log.New(io.Discard, "", 0)}
	w.servers = append(w.servers, s)
	if c == nil {
		go s.Serve(l)
	} else {
		go s.ServeTLS(l, "", "")
	}
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (w *web) close() {
	for _, s := range w.servers {
		s.Close()
	}
}

// begin forgets what programs have asked for until now.
func (w *web) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.times)
	clear(w.log)
}

// load returns the number of requests since begin, and the most to one host within
// a second.
func (w *web) load() (requests, perSecond int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.log {
		requests += len(at)
		first := 0
		for i := range at {
			for at[i].Sub(at[first]) >= time.Second {
				first++
			}
			perSecond = max(perSecond, i-first+1)
		}
	}
	return requests, perSecond
}

func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.Host)
	w.mu.Lock()
	w.log[host] = append(w.log[host], time.Now())
	key := r.Host + r.URL.RequestURI()
	v := &visit{times: w.times[key]}
	w.times[key]++
	w.mu.Unlock()
	a := w.byHost[host]
	if r.URL.Path == "/robots.txt" || r.URL.Path == "/favicon.ico" {
		a = nil
	} else if a != nil {
		v.elsewhere = r.URL.Path != fmt.Sprintf("/%d", a.seed)
	}
	if a == nil || a.kind.serve == nil { // robots.txt, favicon.ico
		http.NotFound(rw, r)
		return
	}
	v.seed = a.seed
	a.kind.serve(rw, r, v)
}

// signer says who signs a certificate. An intermediate authority is never sent.
type signer int

const (
	byAuthority signer = iota
	byItself
	byIntermediate
)

// newAuthority makes an authority, and a function for certificates of all loopback
// hosts of the web or of another name.
func newAuthority() (authority []byte, sign func(until time.Time, name string, by signer) *tls.Config, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	root := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour * 48), NotAfter: now.Add(48 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	root.Subject.CommonName = "bench"
	der, err := x509.CreateCertificate(rand.Reader, root, root, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	serial := int64(1)
	sign = func(until time.Time, name string, by signer) *tls.Config {
		serial++
		c := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: now.Add(-time.Hour * 24), NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature}
		c.Subject.CommonName = "host"
		if name != "" {
			c.DNSNames = []string{name}
		} else {
			for at := range 400 {
				c.IPAddresses = append(c.IPAddresses, net.IPv4(127, 2, byte(at/200), byte(1+at%200)))
			}
		}
		parent := root
		switch by {
		case byItself:
			parent = c
		case byIntermediate:
			c.IssuingCertificateURL = []string{"http://authority.example/intermediate.crt"}
			parent = &x509.Certificate{}
			*parent = *root
			parent.Subject.CommonName = "intermediate"
		}
		der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), key)
		if err != nil {
			panic(err) // only a fault of this program
		}
		return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{"h2", "http/1.1"}}
	}
	var b bytes.Buffer
	pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	return b.Bytes(), sign, nil
}
