// Package report writes the result of a check as sitelink check does: for people, for
// servers that run checks, and for other programs.
//
//	result, err := check.Run(ctx, s, check.Options{})
//	if err != nil {
//		return err
//	}
//	return report.Write(os.Stdout, "text", result)
//
// docs/reference/formats.md describes the formats.
package report
