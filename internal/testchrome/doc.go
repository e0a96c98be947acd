// Package testchrome drives a headless Chromium for the integration tests: it
// loads documents, evaluates expressions in them, types, takes pictures, and
// hands over what the console said. It has code with the build tag integration
// only, and no part of the command imports it.
package testchrome
