//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// soakAttacks are requests without any part that may be taken for a notice. want
// has the statuses of all answers of the connection. SOURCE is a URL that must
// never be recorded.
var soakAttacks = []struct{ request, want string }{
	// Two URLs on the request line, one of them hostile.
	{"LINK SOURCE\x00 http://blog.example/p/1/ HTTP/1.1\r\n\r\n", "400"},
	{"LINK SOURCE\v http://blog.example/p/1/ HTTP/1.1\r\n\r\n", "400"},
	{"LINK SOURCE http://blog.example/p/1/ x y HTTP/1.1\r\n\r\n", "400"},
	{"LINK SOURCE http://blog.example/p/1/ HTTP/2.0\r\n\r\n", "400"},
	{"LINK javascript:alert(1) http://blog.example/p/1/ HTTP/1.1\r\nConnection: close\r\n\r\n", "400"},
	{"LINK SOURCE gopher://blog.example/p/1/ HTTP/1.1\r\nConnection: close\r\n\r\n", "400"},
	{"LINK SOURCE\rX http://blog.example/p/1/ HTTP/1.1\r\n\r\n", "400"},
	{" LINK SOURCE http://blog.example/p/1/ HTTP/1.1\r\n\r\n", "400"},
	{"GET SOURCE http://blog.example/p/1/ HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
	{"LINK /p/1/ HTTP/1.1\r\nHost: blog.example\r\nConnection: close\r\nLink: <SOURCE>, <javascript:alert(1)>\r\n\r\n", "422"},
	{"LINK /p/1/ HTTP/1.1\r\nHost: blog.example\r\nConnection: close\r\nLink: <SOURCE>, <\r\n\r\n", "400"},
	{"LINK /p/1/ HTTP/1.1\r\nHost: blog.example\r\nConnection: close\r\nLink: <SOURCE>; anchor=\"/p/2/\"\r\n\r\n", "422"},
	// Smuggling: the second request is in the body of the first one, or not.
	{"POST /pingback HTTP/1.1\r\nHost: b\r\nContent-Length: 0\r\nContent-Length: 500\r\n\r\nINNER", "400"},
	{"POST /pingback HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nINNER", "501"},
	{"POST /pingback HTTP/1.1\r\nHost: b\r\nContent-Length : 3\r\n\r\nINNER", "400"},
	{"POST /webmention HTTP/1.1\r\nHost: b\r\nConnection: close\r\nContent-Length: LEN\r\n\r\nINNER", "400"},
	{"GET /none HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\nINNER", "404"},
	{"POST /pingback HTTP/1.1\r\nHost: b\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", "400"},
	{"POST /none HTTP/1.1\r\nHost: b\r\nConnection: close\r\nX: y\r\n folded\r\n\r\n", "405"},
	// Not HTTP, or not for us.
	{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", "400"},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "501"},
	{"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "501"},
	{"BREW /pot HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n", "501"},
	{"GET / HTTP/1.1\r\n\r\n", "400"},
	{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
	{"GET /" + strings.Repeat("x", 9000) + " HTTP/1.1\r\nConnection: close\r\nHost: b\r\n\r\n", "404"},
	{"GET / HTTP/1.1\r\nHost: b\r\nX: " + strings.Repeat("x", 30_000) + "\r\n\r\n", "431"},
	{"GET / HTTP/1.1\r\nHost: b\r\nExpect: 200-maybe\r\n\r\n", "417"},
	// Bodies.
	{"POST /webmention HTTP/1.1\r\nHost: b\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n\x1f\x8b\b\x00\x00\x00\x00\x00\x00\x00xxxxxxxxxx", "400"},
	{"POST /webmention HTTP/1.1\r\nHost: b\r\nConnection: close\r\nContent-Length: 24\r\n\r\nsource=%zz&target=http://", "400"},
	{"POST /webmention HTTP/1.1\r\nHost: b\r\nContent-Length: 99999999999999999999\r\n\r\n", "400"},
	{"POST /pingback HTTP/1.1\r\nHost: b\r\nConnection: close\r\nContent-Length: LEN\r\n\r\nBOMB", "200 -32600"},
	{"POST /pingback HTTP/1.1\r\nHost: b\r\nConnection: close\r\nContent-Length: LEN\r\n\r\nNEST", "200 -32600"},
	{"POST /pingback HTTP/1.1\r\nHost: b\r\nConnection: close\r\nContent-Length: 9\r\n\r\n<methodCa", "200 -32700"},
	{"POST /pingback HTTP/1.1\r\nHost: b\r\nConnection: close\r\nContent-Length: 67\r\n\r\n<methodCall><methodName>system.multicall</methodName></methodCall>  ", "200 -32601"},
	// Good requests, pipelined: as many answers, in this order. A call may be refused then.
	{"OPTIONS * HTTP/1.1\r\nHost: b\r\n\r\nLINK SOURCE http://elsewhere.example/ HTTP/1.1\r\n\r\n", "204 400|404|500"},
}

const (
	soakBomb = `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]><methodCall><methodName>&b;&c;</methodName></methodCall>`
	soakNest = 5000
)

// attack sends one of the attacks and reads all answers.
func (c *soakClient) attack() {
	a := soakAttacks[c.random.IntN(len(soakAttacks))]
	inner := "LINK " + c.never() + " http://blog.example/p/1/ HTTP/1.1\r\nHost: b\r\n\r\n"
	_, body, _ := strings.Cut(a.request, "\r\n\r\n")
	for mark, text := range map[string]string{"INNER": inner, "BOMB": soakBomb, "NEST": "<methodCall>" + strings.Repeat("<a>", soakNest)} {
		if body == mark {
			body = text
		}
		a.request = strings.Replace(a.request, mark, text, 1)
	}
	request := strings.NewReplacer("LEN", fmt.Sprint(len(body)), "SOURCE", c.never()).Replace(a.request)
	if !c.connect() {
		return
	}
	defer c.hangUp()
	c.conn.SetDeadline(time.Now().Add(soakPatience))
	// In pieces: the receiver must not depend on how a request arrives.
	for rest := request; rest != ""; {
		n := min(len(rest), 1+c.random.IntN(2*len(request)))
		if _, err := io.WriteString(c.conn, rest[:n]); err != nil {
			break // answered already
		}
		rest = rest[n:]
	}
	wanted := strings.Fields(a.want)
	for i := 0; ; i++ {
		if _, err := c.in.Peek(1); err != nil {
			if i == 0 && !errors.Is(err, io.EOF) && isEnded(err) {
				return // what was not read yet took the answer away
			}
			if !isEnded(err) || i < len(strings.Split(strings.Split(a.want, " -")[0], " ")) {
				c.problem("%.200q: %d answers, then %v", a.request, i, err)
			}
			return
		}
		method, _, _ := strings.Cut(request, " ")
		answer, err := readAnswer(c.in, method)
		if err != nil {
			if !isEnded(err) || errors.Is(err, io.ErrUnexpectedEOF) {
				c.problem("%.200q: %v", a.request, err)
			}
			return
		}
		c.count("attack", fmt.Sprint(answer.code))
		if i >= len(wanted) || !slices.Contains(strings.Split(wanted[i], "|"), fmt.Sprint(answer.code)) ||
			strings.HasPrefix(wanted[len(wanted)-1], "-") && c.fault(answer) != "fault "+wanted[1] {
			c.problem("%.200q: answer %d is %s %.300s", a.request, i, answer.status, answer.body)
			return
		}
	}
}

// isEnded reports whether the other side has ended a connection.
func isEnded(err error) bool {
	text := err.Error()
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(text, "reset by peer") || strings.Contains(text, "broken pipe")
}

// vanish goes away in the middle of a request, or without reading the answer.
func (c *soakClient) vanish() {
	if !c.connect() {
		return
	}
	defer c.hangUp()
	_, n := c.badNotice()
	request := c.post("/webmention", "application/x-www-form-urlencoded", "source="+n.source+"&target="+n.target)
	io.WriteString(c.conn, request[:c.random.IntN(len(request))])
	if c.random.IntN(2) == 0 {
		c.conn.(*net.TCPConn).SetLinger(0)
	}
}

// large sends a body of 100 MB, as far as the receiver takes it.
func (c *soakClient) large() {
	if !c.connect() {
		return
	}
	defer c.hangUp()
	c.conn.SetDeadline(time.Now().Add(soakPatience))
	io.WriteString(c.conn, "POST /webmention HTTP/1.1\r\nHost: b\r\nContent-Length: 100000000\r\n\r\n")
	taken := 0
	for part := make([]byte, 64<<10); taken < 100_000_000; {
		n, err := c.conn.Write(part)
		if taken += n; err != nil {
			break
		}
	}
	if taken > 64<<20 { // the buffers of both sides may be large
		c.problem("%d bytes of a body were taken", taken)
	}
	if a, err := readAnswer(c.in, "POST"); err == nil && a.code != 413 || err != nil && !isEnded(err) {
		c.problem("a large body: %v %v", a, err)
	}
}

// flood opens more connections than one address may have.
func (c *soakClient) flood() {
	var all []net.Conn
	defer func() {
		for _, conn := range all {
			conn.Close()
		}
	}()
	refused := 0
	for range 130 {
		conn, err := c.dial("127.0.0.9")
		if err != nil {
			break
		}
		all = append(all, conn)
	}
	for _, conn := range all {
		conn.SetDeadline(time.Now().Add(soakPatience))
		if _, err := io.WriteString(conn, "GET /none HTTP/1.1\r\nHost: b\r\n\r\n"); err != nil {
			refused++
			continue
		}
		switch a, err := readAnswer(bufio.NewReader(conn), "GET"); {
		case err == nil && a.code == 503, err != nil && isEnded(err):
			refused++
		case err != nil || a.code != 404:
			c.problem("flood: %v %v", a, err)
		}
	}
	c.count("flood refused", fmt.Sprint(refused > 0))
	if refused < len(all)-100 {
		c.problem("%d of %d connections from one address were refused", refused, len(all))
	}
}

// soakSlow are clients that take their time: what they begin with, what they go on
// with, and the answer.
var soakSlow = []struct{ first, drip, want string }{
	{"GET /", "x", "408"},
	{"GET / HTTP/1.1\r\n", "X: y\r\n", "408"},
	{"LINK http://a.example/ http://blog.example/p/1/ HTTP/1.1\r\n", "X: y\r\n", "408"},
	{"POST /webmention HTTP/1.1\r\nHost: b\r\nContent-Length: 60000\r\n\r\n", "x", "408"},
	{"POST /webmention HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", "408"},
	{"", "", ""},
	{"GET /none HTTP/1.1\r\nHost: b\r\n\r\n", "", "404"},
	{strings.Repeat("GET /webmention HTTP/1.1\r\nHost: b\r\n\r\n", 3000), "", "200"}, // does not read
}

// dawdle is a slow client. It ends with the traffic.
func (c *soakClient) dawdle() {
	select {
	case c.slow <- struct{}{}:
	default:
		return
	}
	kind := soakSlow[c.random.IntN(len(soakSlow))]
	conn, err := c.dial(fmt.Sprintf("127.0.0.%d", 60+c.random.IntN(10)))
	if err != nil {
		c.problem("connect: %v", err)
		return
	}
	c.others.Go(func() {
		defer func() { conn.Close(); <-c.slow }()
		ended := make(chan struct{})
		unhook := context.AfterFunc(c.ctx, func() { conn.Close() })
		defer unhook()
		go func() {
			defer close(ended)
			conn.SetWriteDeadline(time.Now().Add(2 * soakPatience))
			_, err := io.WriteString(conn, kind.first)
			for kind.drip != "" && err == nil {
				select {
				case <-c.ctx.Done():
					return
				case <-time.After(500 * time.Millisecond):
					_, err = io.WriteString(conn, kind.drip)
				}
			}
		}()
		conn.SetReadDeadline(time.Now().Add(3 * soakPatience))
		if kind.want == "200" {
			<-ended // before anything is read
		}
		rest, err := io.ReadAll(conn)
		conn.Close()
		<-ended
		select {
		case <-c.ctx.Done():
			return
		default:
		}
		c.count("slow", fmt.Sprintf("%.12s", rest))
		if err != nil && !isEnded(err) || !strings.HasPrefix(strings.TrimPrefix(string(rest), "HTTP/1.1 "), kind.want) {
			c.problem("slow client %.100q: %v, %.200q", kind.first, err, rest)
		}
	})
}
