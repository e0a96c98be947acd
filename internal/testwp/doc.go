// Package testwp runs Debian's WordPress on the loopback for the
// integration tests, with its own MariaDB, as an independent receiver and sender of
// pingbacks. Its code has the build tag integration, and the command does not import
// it.
package testwp
