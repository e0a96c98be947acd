//go:build unix

package system

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

func shell(script string) Command {
	return Command{Args: []string{"sh", "-c", script}, Name: "script", Env: os.Environ()}
}

// TestError: an error has the cause and the last lines of the output, and those
// lines also reach the caller's writer.
func TestError(t *testing.T) {
	var out bytes.Buffer
	c := shell("for i in $(seq 21); do echo line $i; echo; done >&2; exit 7")
	c.Stderr = &out
	err := c.Run(t.Context())
	var failed *CommandError
	if !errors.As(err, &failed) || failed.Command != "script" || err.Error() != "script: exit status 7" {
		t.Fatalf("error %v", err)
	}
	if all := failed.Output; len(all) != 20 || all[0] != "line 2" || all[19] != "line 21" {
		t.Errorf("output %q, want line 2 to line 21", all)
	}
	if n := strings.Count(out.String(), "line"); n != 21 {
		t.Errorf("%d lines reached the writer, want 21", n)
	}
}

// TestBackground: what a command leaves running is killed, and is not an error.
func TestBackground(t *testing.T) {
	var out bytes.Buffer
	c := shell("sleep 300 >/dev/null 2>&1 & echo $!")
	c.Stdout = &out
	testkit.Check(t, c.Run(t.Context()))
	ended(t, &out)
}

// TestCancel: the end of the context ends the whole group, and its cause is the
// error.
func TestCancel(t *testing.T) {
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var out bytes.Buffer
	c := shell("sleep 300 & echo $!; wait")
	c.Stdout = writerFunc(func(p []byte) (int, error) {
		defer cancel(cause) // now that it runs
		return out.Write(p)
	})
	if err := c.Run(ctx); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	ended(t, &out)
}

// TestKilled: a command ends with a sitelink that is killed.
func TestKilled(t *testing.T) {
	if os.Getenv("PROCESS_TEST_CHILD") != "" {
		c := Command{Args: []string{"sh", "-c", "echo $$; exec sleep 300"}, Env: os.Environ(), Stdout: os.Stdout}
		t.Error(c.Run(t.Context())) // unreachable: this process is killed
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills the child")
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	parent.Env = append(os.Environ(), "PROCESS_TEST_CHILD=1")
	stdout, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	testkit.Check(t, err)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	parent.Process.Kill()
	_ = parent.Wait() // it was killed
	testkit.Check(t, err)
	ended(t, bytes.NewBufferString(line))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// ended waits until the process with the printed id is gone or a zombie.
func ended(t *testing.T, out *bytes.Buffer) {
	t.Helper()
	pid := testkit.Must(strconv.Atoi(strings.TrimSpace(out.String())))(t)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if !ProcessExists(pid) || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d is still running", pid)
}
