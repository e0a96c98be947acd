// Package baseline accepts the findings that a site has today, so that checks
// report only new ones.
//
// Make a baseline of the findings of a check and keep the file with the site:
//
//	err := baseline.New(result.Findings, baseline.Terms{Reason: "before the redesign"}).Write(file)
//
// Later, take the accepted findings out of a result:
//
//	b, err := baseline.Read(name, file)
//	if err != nil {
//		return err
//	}
//	m := b.Match(result.Findings, baseline.DateOf(time.Now()), nil)
//	result.Summary.Baseline = &check.BaselineSummary{Name: name}
//	result.Accept(m.Accepted)
//
// [Baseline.Update] drops entries that match no finding any more, and adds new
// ones. An entry accepts the finding with its fingerprint, see
// [check.Fingerprints], until the day it expires.
//
// The package opens no file and reads no clock. No function changes a [Baseline]
// that it was given, so calls may be concurrent. docs/guide/baseline.md describes
// the file.
package baseline
