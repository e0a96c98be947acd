package scan

import "testing"

// TestSlots: the multipliers in the source need no search, and every name is
// found by it.
func TestSlots(t *testing.T) {
	if TagSlots.Mul != tagMultiplier {
		t.Errorf("tagMultiplier should be %#X", TagSlots.Mul)
	}
	if AttrSlots.Mul != attrMultiplier {
		t.Errorf("attrMultiplier should be %#X", AttrSlots.Mul)
	}
	for tag, name := range tagNames {
		if name != "" && TagAt([]byte(name), 0, len(name)) != Tag(tag) {
			t.Errorf("tag %s is not found", name)
		}
	}
	for attr, name := range attrNames {
		if name != "" && AttrAt([]byte(name), 0, len(name)) != Attr(attr) {
			t.Errorf("attribute %s is not found", name)
		}
	}
}
