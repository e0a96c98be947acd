// Package testkit serves tests only: docroots, checks of scanned pages, a headless
// Chromium, Debian's WordPress and PostgreSQL, and free ports. What starts programs
// has the build tag integration.
package testkit
