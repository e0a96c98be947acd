package source

import (
	"context"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
)

// listed is a page as Hugo knows it.
type listed struct {
	file       string // as shown
	host, path string // of its permalink; the path decoded
}

// askHugo asks for the mounts and pages of the project, both at once: Hugo loads
// the site for each. Its network is off: modules that are not there are not
// fetched for the sake of a report.
func (m *Map) askHugo(ctx context.Context) ([]listed, error) {
	defer generator.TidyHugo(m.opt.Project)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		out []byte
		err error
	}
	list := make(chan answer, 1)
	go func() {
		out, err := m.runHugo(ctx, "list", "all")
		list <- answer{out, err}
	}()
	out, err := m.runHugo(ctx, "config", "mounts")
	if err != nil {
		cancel()
	}
	listing := <-list // it must not outlive the call, which tidies up behind it
	if err != nil {
		return nil, err
	}
	mounts, err := m.readMounts(out)
	if err != nil {
		return nil, err
	}
	if listing.err != nil {
		return nil, listing.err
	}
	pages, err := m.readList(listing.out)
	if err != nil {
		return nil, err
	}
	m.mounts = mounts
	return pages, nil
}

func (m *Map) runHugo(ctx context.Context, args ...string) ([]byte, error) {
	run := generator.Runner{Programs: map[string]string{"hugo": m.opt.Hugo}, Env: m.opt.Env, Timeout: m.opt.Timeout}
	return run.Output(ctx, m.opt.Project, "hugo", args...)
}

// readList takes the pages of `hugo list all`, with files as they are shown.
func (m *Map) readList(out []byte) (pages []listed, err error) {
	all, err := generator.ReadHugoList(out)
	for _, p := range all {
		file := p.File
		if isAbsolute(file) {
			for _, project := range []string{slashed(m.opt.Project), resolved(m.opt.Project)} {
				if rel, ok := strings.CutPrefix(file, strings.TrimSuffix(project, "/")+"/"); ok {
					file = rel
					break
				}
			}
		}
		pages = append(pages, listed{file, p.Permalink.Host, p.Permalink.Path})
	}
	return pages, err
}
