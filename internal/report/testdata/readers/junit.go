package main

import (
	"bytes"
	"fmt"

	"github.com/joshdk/go-junit"
)

// junitReport reads test results as CI servers do. It requires that there are
// results, that their names differ, and that a failure has a reason.
func junitReport(text []byte) error {
	suites, err := junit.IngestReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	seen := map[[2]string]bool{}
	for _, suite := range suites {
		if len(suite.Tests) == 0 {
			return fmt.Errorf("the suite %q has no tests", suite.Name)
		}
		for _, test := range suite.Tests {
			key := [2]string{test.Classname, test.Name}
			if seen[key] {
				return fmt.Errorf("two tests are %q", key)
			}
			seen[key] = true
			if test.Status == junit.StatusFailed && test.Error == nil {
				return fmt.Errorf("%q fails without a reason", key)
			}
		}
	}
	if len(seen) == 0 {
		return fmt.Errorf("no tests")
	}
	return nil
}
