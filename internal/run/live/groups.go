package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/text"
)

// Group are differences with one explanation.
type Group struct {
	// Text says what explains them and what to do, and Key is the line of sitelink.toml
	// that makes the predictions true, "" for none.
	Text        string        `json:"text"`
	Key         string        `json:"key,omitempty"`
	Differences []Observation `json:"differences"`
}

// Explain puts what differs into groups: first what another profile predicts. The error is the
// cause of ctx, or says that the docroot cannot be read again.
func Explain(ctx context.Context, h *host.Host, seen []Observation) (groups []Group, err error) {
	differ := slices.DeleteFunc(slices.Clone(seen), func(o Observation) bool { return !o.Differs() })
	best, err := bestProfiles(ctx, h, seen, len(differ))
	if err != nil {
		return nil, err
	}
	if len(best) > 0 {
		var names []string
		for _, b := range best {
			names = append(names, b.Profile().Name)
		}
		g := Group{Text: "the host answers like the profile " + strings.Join(names, ", "), Key: fmt.Sprintf("profile = %q", names[0])}
		groups, differ = take(groups, differ, g, func(o Observation) bool { return predicts(best[0], o) })
	}
	for _, e := range explanations {
		groups, differ = take(groups, differ, Group{Text: e.text}, e.explains)
	}
	return groups, nil
}

// take moves the differences that is accepts into the group.
func take(groups []Group, all []Observation, g Group, is func(Observation) bool) ([]Group, []Observation) {
	rest := slices.DeleteFunc(slices.Clone(all), is)
	for _, d := range all {
		if is(d) {
			g.Differences = append(g.Differences, d)
		}
	}
	if len(g.Differences) > 0 {
		groups = append(groups, g)
	}
	return groups, rest
}

// explanations are tried in this order; the last accepts everything.
var explanations = []struct {
	text     string
	explains func(Observation) bool
}{
	{"the host refused or failed to answer; look at its log, and try again", func(d Observation) bool {
		s := d.Answered.Status
		return s >= 500 || s == 401 || s == 403 || s == 429
	}},
	{"the host lacks files of this build: the last deploy is older than the build, or incomplete", Observation.Missing},
	{"the host does not apply these redirect rules: it reads no such file, or an older one", func(d Observation) bool { return d.Kind == Rule }},
	{"the host answers addresses that have no file, so it cannot tell a visitor that a page is missing", func(d Observation) bool {
		return d.Kind == Absent && d.Answered.Status == 200
	}},
	{"the host sends these files with a type that browsers do not take for what they are", func(d Observation) bool { return d.Answered.Type != "" }},
	{"the host, or a proxy before it, adds something to the files, such as a script", func(d Observation) bool { return d.Answered.Differs == inserted }},
	{"a cache sends older files: purge it, or wait until they expire", func(d Observation) bool { return d.Answered.Differs == cachedBytes }},
	{"these files are not those of this build: the last deploy is older, or the host changes files", func(d Observation) bool { return d.Answered.Differs != "" }},
	{"other differences", func(Observation) bool { return true }},
}

// Missing reports whether the host answers a file of the docroot with an error.
func (o Observation) Missing() bool {
	return o.Kind == File && o.Predicted.Status == 200 && o.Answered.Status >= 400
}

// bestProfiles returns the hosts of the profiles that predict most, if their predictions lack at
// most half of the differences: first the one that the host names as its software, then by name.
func bestProfiles(ctx context.Context, h *host.Host, seen []Observation, differ int) (best []*host.Host, err error) {
	wrong := differ / 2
	for _, p := range host.Profiles() {
		if differ == 0 || p.Name == h.Profile().Name || p.Name == host.Linklint.Name || strings.HasSuffix(p.Name, "-server") {
			continue
		}
		other, err := h.As(ctx, p)
		if err != nil {
			return nil, err
		}
		n := 0
		for _, o := range seen {
			if !predicts(other, o) {
				n++
			}
		}
		if n < wrong {
			best, wrong = nil, n
		}
		if n == wrong {
			best = append(best, other)
		}
	}
	slices.SortStableFunc(best, func(a, b *host.Host) int { return cmp.Compare(isNamed(b, seen), isNamed(a, seen)) })
	return best, nil
}

// predicts reports whether a host answers as was observed.
func predicts(h *host.Host, o Observation) bool {
	want, _, ok := predict(h, o.Address)
	return ok && want.equals(o.Answered)
}

// isNamed returns 1 if the software that answered has the name of the profile, as nginx/1.22 has,
// and 0 otherwise.
func isNamed(h *host.Host, seen []Observation) int {
	name, _, _ := strings.Cut(h.Profile().Name, "-")
	if strings.Contains(strings.ToLower(seen[len(seen)-1].server), name) {
		return 1
	}
	return 0
}

// String returns the difference as a line: address, what was predicted, what came.
func (d Observation) String() string {
	got := d.Answered
	line := fmt.Sprintf("%s: predicted %s, answered %s", d.Address, d.Predicted, got)
	if got.Status == d.Predicted.Status && got.Final == d.Predicted.Final {
		line = d.Address
		for _, what := range []string{got.Type, got.Differs} {
			if what != "" {
				line += ": " + what
			}
		}
	}
	return text.Visible(line)
}

// String returns the answer as in "200 at /x/".
func (a Answer) String() string {
	switch {
	case a.Status == 0:
		return "a redirect to " + a.Final
	case a.Status >= 400:
		return fmt.Sprint(a.Status)
	}
	return fmt.Sprintf("%d at %s", a.Status, a.Final)
}
