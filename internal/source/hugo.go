package source

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// listed is a page as Hugo knows it.
type listed struct {
	file       string // as shown
	host, path string // of its permalink; the path decoded
}

// maxHugoOutput bounds what is read of a call; maxHugoError what is shown.
const (
	maxHugoOutput = 256 << 20
	maxHugoError  = 300
	hugoTimeout   = 20 * time.Second
)

// askHugo asks for the mounts and pages of the project, both at once: Hugo loads
// the site for each. Its network is off: modules that are not there are not
// fetched for the sake of a report.
func (m *Map) askHugo(ctx context.Context) ([]listed, error) {
	defer m.tidy()()
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

// tidy notes which of the things that Hugo makes before it answers are not
// there, and returns a function that removes these again if they are empty: a
// check leaves the project as it was.
func (m *Map) tidy() func() {
	var missing []string
	for _, name := range []string{"resources/_gen/assets", "resources/_gen/images", "resources/_gen", "resources", "public", ".hugo_build.lock"} {
		if _, err := m.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, name)
		}
	}
	return func() {
		for _, name := range missing {
			info, err := m.root.Lstat(name)
			if err == nil && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0) {
				m.root.Remove(name) // fails where something lies in it
			}
		}
	}
}

func (m *Map) runHugo(ctx context.Context, args ...string) ([]byte, error) {
	what := "hugo " + strings.Join(args, " ")
	timeout := m.opt.Timeout
	if timeout <= 0 {
		timeout = hugoTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.opt.Hugo, args...)
	cmd.Dir = m.opt.Project
	cmd.Env = append(slices.Clone(m.opt.Env), "HUGO_MODULE_PROXY=off", "GOPROXY=off", "GOFLAGS=-mod=mod")
	cmd.WaitDelay = time.Second
	var stdout, stderr limited
	stdout.limit, stderr.limit = maxHugoOutput, 64<<10
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return nil, fmt.Errorf("%s: no answer within %v", what, timeout)
	case err != nil:
		said := strings.TrimSpace(stderr.String())
		if said == "" {
			said = strings.TrimSpace(stdout.String())
		}
		said, _, _ = strings.Cut(said, "\n")
		if len(said) > maxHugoError {
			said = strings.ToValidUTF8(said[:maxHugoError], "") + "..."
		}
		return nil, fmt.Errorf("%s: %w: %s", what, err, said)
	case stdout.over:
		return nil, fmt.Errorf("%s: more than %d bytes", what, maxHugoOutput)
	}
	return stdout.Bytes(), nil
}

// limited keeps the beginning of what is written.
type limited struct {
	bytes.Buffer
	limit int
	over  bool
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.limit - l.Len(); len(p) > room {
		l.over = true
		l.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// readList reads the CSV of `hugo list all`. Warnings that Hugo prints between
// the lines, and lines that are no rows, are passed over.
func (m *Map) readList(out []byte) (pages []listed, err error) {
	start := bytes.Index(out, []byte("path,"))
	for start > 0 && out[start-1] != '\n' {
		next := bytes.Index(out[start+1:], []byte("path,"))
		if next < 0 {
			start = -1
			break
		}
		start += 1 + next
	}
	if start < 0 {
		return nil, errors.New("read hugo list all: no header \"path,...\" in its output")
	}
	r := csv.NewReader(bytes.NewReader(out[start:]))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read hugo list all: %w", err)
	}
	columns, link := len(header), slices.Index(header, "permalink")
	if link < 0 {
		return nil, errors.New("read hugo list all: no column permalink")
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return pages, nil
		}
		if err != nil || len(row) != columns {
			continue
		}
		u, err := url.Parse(row[link])
		if err != nil || row[0] == "" {
			continue
		}
		file := slashed(row[0])
		if isAbsolute(file) {
			for _, project := range []string{slashed(m.opt.Project), resolved(m.opt.Project)} {
				if rel, ok := strings.CutPrefix(file, strings.TrimSuffix(project, "/")+"/"); ok {
					file = rel
					break
				}
			}
		}
		pages = append(pages, listed{strings.Clone(file), strings.Clone(u.Host), strings.Clone(u.Path)})
	}
}
