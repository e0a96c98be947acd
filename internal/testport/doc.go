// Package testport finds ports for servers that integration tests start and that
// take their port as an argument. Its code has the build tag integration, and the
// command does not import it.
package testport
