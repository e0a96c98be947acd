package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// result gathers the text of one result file.
type result struct {
	strings.Builder
}

func (r *result) addf(format string, args ...any) { fmt.Fprintf(r, format, args...) }

// section writes a heading between blank lines.
func (r *result) section(title string) { r.addf("\n%s\n%s\n", title, strings.Repeat("=", len(title))) }

// keep prints r and writes it to DATE-NAME.txt in the results directory,
// unless none was wanted.
func (r *result) keep(s *settings, name string, out io.Writer) error {
	if _, err := io.WriteString(out, r.String()); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	if s.results == "" {
		return nil
	}
	if err := os.MkdirAll(s.results, 0o755); err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	file := filepath.Join(s.results, s.date+"-"+name+".txt")
	if err := os.WriteFile(file, []byte(r.String()), 0o644); err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	fmt.Fprintf(out, "\nkept in %s\n", file)
	return nil
}

// machine writes what the figures depend on besides the programs.
func (r *result) machine(ctx context.Context, date string) {
	r.addf("date      %s\n", date)
	r.addf("machine   %s, %d cores, %s\n", cpuModel(), runtime.NumCPU(), memory())
	kernel, err := exec.CommandContext(ctx, "uname", "-sr").Output()
	if err != nil {
		kernel = []byte("unknown system")
	}
	r.addf("system    %s, bench built with %s\n", strings.TrimSpace(string(kernel)), runtime.Version())
	r.addf("load      %s at the start (1, 5, 15 minutes)\n", loadAverage())
}

// floorRSS is this process's own peak in bytes, below which the peak of no
// program that it starts can be seen.
func floorRSS() int64 {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return ru.Maxrss * 1024
}

func cpuModel() string { return procField("/proc/cpuinfo", "model name", "unknown processor") }

func memory() string {
	var kib int64
	if _, err := fmt.Sscanf(procField("/proc/meminfo", "MemTotal", ""), "%d kB", &kib); err != nil {
		return "memory unknown"
	}
	return fmt.Sprintf("%.1f GiB", float64(kib)/(1<<20))
}

// procField returns the first value of a "name : value" file under /proc.
func procField(file, name, missing string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return missing
	}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return missing
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	f := strings.Fields(string(text))
	return strings.Join(f[:min(3, len(f))], " ")
}
