package check

import "encoding/json"

// kept is a finding with what [Causes] and [Fingerprints] know of it beside its exported
// fields.
type kept struct {
	Finding
	About    string `json:",omitempty"`
	Evidence string `json:",omitempty"`
	LinkCode Code   `json:",omitempty"`
	Context  uint64 `json:",omitempty"`
	IsFeed   bool   `json:",omitempty"`
	Lacking  int    `json:",omitempty"`
}

// MarshalFindings returns findings as JSON, to be read by [UnmarshalFindings] of the same
// version. Their [Causes] and [Fingerprints] stay the same.
func MarshalFindings(findings []Finding) ([]byte, error) {
	all := make([]kept, len(findings))
	for i, f := range findings {
		all[i] = kept{f, f.about, f.evidence, f.linkCode, f.context, f.isFeed, f.lacking}
	}
	return json.Marshal(all)
}

// UnmarshalFindings returns the findings that [MarshalFindings] wrote.
func UnmarshalFindings(text []byte) ([]Finding, error) {
	var all []kept
	err := json.Unmarshal(text, &all)
	findings := make([]Finding, len(all))
	for i, k := range all {
		f := k.Finding
		f.about, f.evidence, f.linkCode, f.context, f.isFeed, f.lacking = k.About, k.Evidence, k.LinkCode, k.Context, k.IsFeed, k.Lacking
		findings[i] = f
	}
	return findings, err
}
