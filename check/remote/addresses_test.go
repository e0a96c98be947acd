package remote

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// Names that share an address wait for each other, before they connect and before later
// requests. A name with an address of its own does not.
func TestAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &addresses{spacing: 100 * time.Millisecond}
		one, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		for i := range 5 {
			if got, want := a.connect(fmt.Sprint("blog", i), one), time.Duration(i)*a.spacing; got != want {
				t.Errorf("name %d waits %v, want %v", i, got, want)
			}
		}
		if got := a.connect("alone", other); got != 0 {
			t.Errorf("another address waits %v", got)
		}
		time.Sleep(4 * a.spacing)
		for i := range 5 {
			if got := a.connect(fmt.Sprint("blog", i), one); got != 0 {
				t.Errorf("name %d waits %v at its turn", i, got)
			}
		}
		now := time.Now()
		for i := range 3 {
			if got, want := a.begin(fmt.Sprint("blog", i), now).Sub(now), time.Duration(i+1)*a.spacing; got != want {
				t.Errorf("request %d waits %v, want %v", i, got, want)
			}
		}
		if a.begin("alone", now) != now || a.begin("unknown", now) != now {
			t.Error("a name without company waits")
		}
	})
}
