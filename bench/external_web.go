package main

import (
	"bytes"
	"compress/gzip"
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
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"strings"
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
	// hosts is the number of hosts that answer like that, each with so many links.
	// Without hosts, the links are spread over the ordinary hosts.
	hosts, links int
	serve        func(w http.ResponseWriter, r *http.Request, v *visit)
}

// visit is what a server knows about a request.
type visit struct {
	round int
	times int // the URL was asked for before, in this run of a program
	seed  int // of the URL
	// elsewhere: it is for another address of a host that has only one link.
	elsewhere bool
}

// ordinary is the number of hosts that have links of several kinds.
const ordinary = 40

var kinds = []kind{
	{"200", works, 0, 240, page},
	{"gzip", works, 0, 40, func(w http.ResponseWriter, r *http.Request, v *visit) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/html")
		z := gzip.NewWriter(w)
		io.WriteString(z, "<title>compressed</title>")
		z.Close()
	}},
	{"chain of 301 and 302 to a page", works, 0, 60, func(w http.ResponseWriter, r *http.Request, v *visit) {
		chain(w, r, v, page)
	}},
	{"chain to a 404", dead, 0, 20, func(w http.ResponseWriter, r *http.Request, v *visit) {
		chain(w, r, v, func(w http.ResponseWriter, r *http.Request, v *visit) { http.NotFound(w, r) })
	}},
	{"redirects in a loop", dead, 0, 10, func(w http.ResponseWriter, r *http.Request, v *visit) {
		http.Redirect(w, r, r.URL.Path+"?"+map[bool]string{true: "b", false: "a"}[r.URL.RawQuery == "a"], http.StatusFound)
	}},
	{"404", dead, 0, 80, func(w http.ResponseWriter, r *http.Request, v *visit) { http.NotFound(w, r) }},
	{"410", dead, 0, 20, func(w http.ResponseWriter, r *http.Request, v *visit) { w.WriteHeader(410) }},
	{"soft 404", unscored, 0, 20, func(w http.ResponseWriter, r *http.Request, v *visit) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<title>Page not found</title>")
	}},
	{"HEAD answers 404 or 405, GET 200", works, 10, 3, func(w http.ResponseWriter, r *http.Request, v *visit) {
		if r.Method == http.MethodHead {
			w.WriteHeader(404 + v.seed%2)
			return
		}
		page(w, r, v)
	}},
	{"HEAD answers 200, GET 404", dead, 5, 3, func(w http.ResponseWriter, r *http.Request, v *visit) {
		if r.Method != http.MethodHead {
			http.NotFound(w, r)
		}
	}},
	{"403 with a page for programs", works, 15, 3, func(w http.ResponseWriter, r *http.Request, v *visit) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(403)
		io.WriteString(w, "<title>Just a moment...</title><h1>Checking your browser</h1>")
	}},
	{"429 with Retry-After, then 200", works, 10, 3, func(w http.ResponseWriter, r *http.Request, v *visit) {
		if v.times == 0 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
			return
		}
		page(w, r, v)
	}},
	{"503 once, then 200", works, 10, 2, func(w http.ResponseWriter, r *http.Request, v *visit) {
		if v.times == 0 {
			w.WriteHeader(503)
			return
		}
		page(w, r, v)
	}},
	{"503 during one run of three", works, 15, 2, func(w http.ResponseWriter, r *http.Request, v *visit) {
		if (v.seed+v.round)%3 == 0 {
			w.WriteHeader(503)
			return
		}
		page(w, r, v)
	}},
	{"500", dead, 5, 2, func(w http.ResponseWriter, r *http.Request, v *visit) { w.WriteHeader(500) }},
	{"answers after 3 s", works, 5, 2, func(w http.ResponseWriter, r *http.Request, v *visit) {
		select {
		case <-time.After(3 * time.Second):
			page(w, r, v)
		case <-r.Context().Done():
		}
	}},
	{"reset once, then 200", works, 10, 2, func(w http.ResponseWriter, r *http.Request, v *visit) {
		if v.times == 0 {
			reset(w)
			return
		}
		page(w, r, v)
	}},
	{"reset", dead, 5, 2, func(w http.ResponseWriter, r *http.Request, v *visit) { reset(w) }},
	{"refused connection", dead, 5, 2, nil},
	{"HTTP/2", works, 10, 3, page},
	{"certificate expired", dead, 5, 2, page},
	{"certificate of another host", dead, 5, 2, page},
	{"certificate signs itself", dead, 5, 2, page},
}

func page(w http.ResponseWriter, r *http.Request, v *visit) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("ETag", fmt.Sprintf(`"%d"`, v.seed))
	if r.Header.Get("If-None-Match") != "" {
		w.WriteHeader(304)
		return
	}
	fmt.Fprintf(w, "<title>page %d</title>%s", v.seed, strings.Repeat("<p>text", 500))
}

// chain redirects two to four times, the first time permanently or not, to what last
// answers.
func chain(w http.ResponseWriter, r *http.Request, v *visit, last func(http.ResponseWriter, *http.Request, *visit)) {
	hop := len(r.URL.RawQuery)
	if hop == 2+v.seed%3 {
		last(w, r, v)
		return
	}
	status := []int{301, 302, 308, 307}[(v.seed+hop)%4]
	http.Redirect(w, r, r.URL.Path+"?"+strings.Repeat("x", hop+1), status)
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
	kinds     []kind
	all       []address
	authority []byte // certificate of the authority of good hosts, PEM
	servers   []*http.Server

	mu    sync.Mutex
	round int
	times map[string]int
	log   map[string][]time.Time // requests by host
	byKey map[string]*address
	// byHost has the only link of a host.
	byHost map[string]*address
}

// newWeb starts a web. The same seed gives the same links, except for ports.
func newWeb(seed uint64, kinds []kind) (*web, error) {
	w := &web{kinds: kinds, times: map[string]int{}, log: map[string][]time.Time{}, byKey: map[string]*address{}, byHost: map[string]*address{}}
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
	random := mathrand.New(mathrand.NewPCG(seed, 1))
	next := 0 // host
	for i := range kinds {
		k := &kinds[i]
		for n := range max(k.hosts, 1) * k.links {
			host := fmt.Sprintf("127.1.0.%d", 1+random.IntN(ordinary))
			if k.hosts > 0 {
				at := next + n/k.links
				host = fmt.Sprintf("127.2.%d.%d", at/200, 1+at%200)
			}
			scheme, port := "http", plain
			if p, ok := tlsPorts[k.name]; ok {
				scheme, port = "https", p
			} else if k.serve == nil {
				port = closed
			}
			a := address{kind: k, seed: random.IntN(1 << 20)}
			path := fmt.Sprintf("/%d/%d", i, n)
			a.url = fmt.Sprintf("%s://%s:%d%s", scheme, host, port, path)
			w.all = append(w.all, a)
		}
		next += k.hosts
	}
	random.Shuffle(len(w.all), func(i, j int) { w.all[i], w.all[j] = w.all[j], w.all[i] })
	for i := range w.all {
		if k := w.all[i].kind; k.hosts > 0 && k.links == 1 {
			host, _, _ := strings.Cut(w.all[i].url[strings.Index(w.all[i].url, "//")+2:], ":")
			w.byHost[host] = &w.all[i]
		}
		w.byKey[strings.TrimPrefix(strings.TrimPrefix(w.all[i].url, "https://"), "http://")] = &w.all[i]
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
func (w *web) begin(round int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.round = round
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
	a := w.byKey[r.Host+r.URL.Path]
	key := r.Host + r.URL.RequestURI()
	v := &visit{round: w.round, times: w.times[key]}
	w.times[key]++
	w.mu.Unlock()
	if a == nil && r.URL.Path != "/robots.txt" && r.URL.Path != "/favicon.ico" {
		a, v.elsewhere = w.byHost[host], true
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
