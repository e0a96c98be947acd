package server

import (
	"fmt"
	"net"
	"os"
	"strconv"
)

// firstFile is the number of the first file that systemd passes.
const firstFile = 3

// Sockets returns the listeners that systemd passed to this process by socket
// activation (sd_listen_fds(3)), or an empty list. getenv is os.Getenv in a
// program. Call it once: the sockets belong to the caller afterwards.
//
// With socket activation, the process needs no privilege for a port below 1024,
// and connections wait while it restarts.
func Sockets(getenv func(string) string) ([]net.Listener, error) {
	if pid, err := strconv.Atoi(getenv("LISTEN_PID")); err != nil || pid != os.Getpid() {
		return nil, nil // for another process
	}
	n, err := strconv.Atoi(getenv("LISTEN_FDS"))
	if err != nil || n < 0 || n > 1000 {
		return nil, fmt.Errorf("LISTEN_FDS is %q, want a number of sockets", getenv("LISTEN_FDS"))
	}
	var sockets []net.Listener
	for i := range n {
		f := os.NewFile(uintptr(firstFile+i), "LISTEN_FD_"+strconv.Itoa(firstFile+i))
		l, err := net.FileListener(f) // a copy, which programs that we start do not inherit
		f.Close()
		if err != nil {
			for _, s := range sockets {
				s.Close()
			}
			return nil, fmt.Errorf("socket %d of systemd: %w", firstFile+i, err)
		}
		sockets = append(sockets, l)
	}
	return sockets, nil
}

// Notify tells systemd about the state of the service (sd_notify(3)): "READY=1"
// once connections are accepted, "STOPPING=1" before it ends. Without systemd, it
// does nothing.
func Notify(getenv func(string) string, state string) error {
	address := getenv("NOTIFY_SOCKET")
	if address == "" {
		return nil
	}
	// net understands a leading @, the abstract name space of Linux.
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(state)); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}
