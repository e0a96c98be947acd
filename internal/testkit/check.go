package testkit

import "testing"

// Check ends a test with an error that it does not expect.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
