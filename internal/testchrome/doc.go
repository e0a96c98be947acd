// Package testchrome controls a headless Chromium in integration tests: it loads
// documents, evaluates expressions in them, types text, takes screenshots, and
// returns console messages. Its code has the build tag integration, and the command
// does not import it.
package testchrome
