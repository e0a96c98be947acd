// Package testwp runs Debian's WordPress on the loopback for the
// integration tests, with a MariaDB of its own, as an independent receiver and
// sender of pingbacks. It has code with the build tag integration only, and no
// part of the command imports it.
package testwp
