package scan

import "testing"

// TestSlots: the multipliers in the source need no search, and every name is
// found by it.
func TestSlots(t *testing.T) {
	if tagSlots.mul != tagMultiplier {
		t.Errorf("tagMultiplier should be %#X", tagSlots.mul)
	}
	if attrSlots.mul != attrMultiplier {
		t.Errorf("attrMultiplier should be %#X", attrSlots.mul)
	}
	for tag, name := range tagNames {
		if name != "" && tagAt([]byte(name), 0, len(name)) != Tag(tag) {
			t.Errorf("tag %s is not found", name)
		}
	}
	for attr, name := range attrNames {
		if name != "" && attrAt([]byte(name), 0, len(name)) != Attr(attr) {
			t.Errorf("attribute %s is not found", name)
		}
	}
}
