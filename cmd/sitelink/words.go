package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
)

// planFormats are those in which a plan of notices is shown.
var planFormats = []string{"text", "json", "markdown"}

// oneOfWords refuses the value of a flag that is none of the words.
func oneOfWords(flag, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	hint := ""
	if near, ok := config.Nearest(value, words); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return &usageError{fmt.Sprintf("--%s: want %s, got %q", flag, strings.Join(words, ", "), value), hint}
}
