package scan

import (
	"testing"
)

// TestSlots: the multipliers in the source have no collisions, and every name
// is found.
func TestSlots(t *testing.T) {
	if TagSlots.Mul != tagMultiplier {
		t.Errorf("tagMultiplier should be %#X", TagSlots.Mul)
	}
	if AttrSlots.Mul != attrMultiplier {
		t.Errorf("attrMultiplier should be %#X", AttrSlots.Mul)
	}
	for tag := range TagCount {
		if name := tag.String(); name != "" && TagAt([]byte(name), 0, len(name)) != tag {
			t.Errorf("tag %s is not found", tag)
		}
	}
	for attr := range AttrCount {
		if name := attr.String(); name != "" && AttrAt([]byte(name), 0, len(name)) != attr {
			t.Errorf("attribute %s is not found", attr)
		}
	}
}
