package main

import "testing"

func TestInstructionsIn(t *testing.T) {
	n, err := instructionsIn("checked 3 pages\n==4711== \n==4711== I   refs:      8,822,451,112\n")
	if n != 8822451112 || err != nil {
		t.Errorf("got %f, %v", n, err)
	}
	if _, err := instructionsIn("valgrind: not found\n"); err == nil {
		t.Error("no error where nothing was counted")
	}
}
