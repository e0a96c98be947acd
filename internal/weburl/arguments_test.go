package weburl

import (
	"slices"
	"testing"
)

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		id, in string
		want   []string
	}{
		{"WO-47", "a=1&b=2;c=3", []string{"a", "1", "b", "2", "c", "3"}},
		{"WO-48", "na%6De=v%20w&v+w", []string{"name", "v w", "v w", ""}},
		{"WO-49: split first, decoded then", "a=%26&b=%3b%3D", []string{"a", "&", "b", ";="}},
		{"WO-49: nothing in it", "", nil},
		{"WO-51: decoded once", "url=http%3A%2F%2Fh%2F%3Fa%3D1%26b%3D2&twice=%2525", []string{"url", "http://h/?a=1&b=2", "twice", "%25"}},
		{"WO-52", "a=1;b=2", []string{"a", "1", "b", "2"}},
		{"empty ones", "&&a;;=x&", []string{"a", "", "", "x"}},
		{"no escapes", "a=%&b=%zz", []string{"a", "%", "b", "%zz"}},
	} {
		var got []string
		for name, value := range Arguments(c.in) {
			got = append(got, name, value)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q: got %q, want %q", c.id, c.in, got, c.want)
		}
	}
	// WO-50: posted data that was recoded first is the same data.
	for _, in := range []string{"a=x%20y", "a=%41&b=%26;c", "x=%zz&y=%3D"} {
		var plain, recoded []string
		for name, value := range Arguments(in) {
			plain = append(plain, name, value)
		}
		for name, value := range Arguments(string(RecodeArguments(nil, in))) {
			recoded = append(recoded, name, value)
		}
		if !slices.Equal(plain, recoded) {
			t.Errorf("WO-50: %q: %q, recoded %q", in, plain, recoded)
		}
	}
	if got := string(RecodeArguments(nil, "a=x%20y")); got != "a=x+y" {
		t.Errorf("WO-50: got %q", got)
	}
	for range Arguments("a&b") {
		break
	}
}
