package main

import (
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	testkit.Write(t, name, text)
}
