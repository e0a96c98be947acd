//go:build integration

package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreePort returns an address of 127.0.0.1 without a listener. Its port is below those
// that the system gives to clients and to listeners that ask for any port, so none of
// them takes it before the server does.
func FreePort(t testing.TB) (address string) {
	t.Helper()
	for range 1000 {
		address = fmt.Sprintf("127.0.0.1:%d", 15_000+rand.N(15_000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}
