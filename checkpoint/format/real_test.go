// This file tests against the frameworks themselves: what they write while they are killed, and whether
// they can load what we name.

package format_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/internal/must"
)

// folderVariable names the environment variable with the folder that fetch.sh has filled; with
// requireVariable set to 1, its absence is a failure.
const (
	folderVariable  = "APPORTION_FRAMEWORKS"
	requireVariable = "APPORTION_REQUIRE_FRAMEWORKS"
)

// python returns the interpreter that has a framework, and skips the test loudly where there is none.
func python(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv(folderVariable)
	if folder == "" {
		if os.Getenv(requireVariable) == "1" {
			t.Fatalf("%s is not set", folderVariable)
		}
		t.Skipf("NOT TESTED, %s is not set: the frameworks are missing", folderVariable)
	}
	program := filepath.Join(folder, name, "bin", "python")
	must.Have(os.Stat(program))(t)
	return program
}

// script returns a command that runs a script of testdata. It is killed when the test ends.
func script(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python(t, name), append([]string{filepath.Join("testdata", name+"_job.py")}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stderr = &tail{}
	return cmd
}

// tail keeps the end of what a script says, for the case that it fails.
type tail struct{ text []byte }

func (w *tail) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	w.text = w.text[max(0, len(w.text)-4096):]
	return len(p), nil
}

// server is a process of a framework that carries out orders, see testdata/job.py.
type server struct {
	cmd    *exec.Cmd
	orders io.Writer
	lines  *bufio.Scanner
}

func serve(t *testing.T, name string, args ...string) *server {
	t.Helper()
	cmd := script(t, name, args...)
	orders := must.Have(cmd.StdinPipe())(t)
	output := must.Have(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // killed
	})
	return &server{cmd, orders, bufio.NewScanner(output)}
}

// order has an order carried out and calls visit with the process and each number that it prints.
func (s *server) order(t *testing.T, order string, visit func(child *os.Process, number int64)) {
	t.Helper()
	must.Have(fmt.Fprintln(s.orders, order))(t)
	var child *os.Process
	for s.lines.Scan() && s.lines.Text() != "done" {
		if pid, ok := strings.CutPrefix(s.lines.Text(), "pid "); ok {
			n := must.Have(strconv.Atoi(pid))(t)
			child = must.Have(os.FindProcess(n))(t)
			continue
		}
		if number, err := strconv.ParseInt(s.lines.Text(), 10, 64); err == nil { // others are not ours
			visit(child, number)
		}
	}
	if s.lines.Text() != "done" {
		_ = s.cmd.Wait() // it has ended, and what it said is complete afterwards
		t.Fatalf("%s failed: %s", order, s.cmd.Stderr.(*tail).text)
	}
}

// load returns the number in a checkpoint, as the framework reads it.
func (s *server) load(t *testing.T, folder, name string) int64 {
	t.Helper()
	loaded := int64(-1)
	s.order(t, "load "+folder+" "+name, func(_ *os.Process, number int64) { loaded = number })
	if loaded < 0 {
		t.Fatalf("%s does not load", name)
	}
	return loaded
}

// writeAndKill lets the framework save into a folder, kills it at a random moment after the first
// checkpoint, and returns the last number that it said it had saved.
func (s *server) writeAndKill(t *testing.T, folder string, random *rand.Rand) int64 {
	t.Helper()
	last := int64(0)
	s.order(t, "write "+folder, func(child *os.Process, number int64) {
		if last == 0 {
			time.AfterFunc(time.Duration(random.IntN(400))*time.Millisecond, func() { _ = child.Kill() })
		}
		last = number
	})
	if last == 0 {
		t.Fatal("nothing was saved")
	}
	return last
}

// TestKilledFrameworks: whenever a framework is killed, the newest complete checkpoint is at least as new
// as the last that was said to be saved, and the framework loads it, with the contents it should have.
func TestKilledFrameworks(t *testing.T) {
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	for _, test := range []struct {
		name   string
		form   []string
		format format.Format
	}{
		{"tensorflow", []string{"object"}, format.TensorFlow{}},
		{"tensorflow", []string{"saver"}, format.TensorFlow{}},
		{"pytorch", nil, format.PyTorch{StepsPerNumber: 1}},
		{"mxnet", nil, format.MXNet{StepsPerNumber: 1}},
	} {
		t.Run(strings.Join(append([]string{test.name}, test.form...), "/"), func(t *testing.T) {
			process := serve(t, test.name, test.form...)
			random := rand.New(rand.NewPCG(1, 2))
			interrupted, skipped := 0, 0
			for range rounds {
				folder := t.TempDir()
				last := process.writeAndKill(t, folder, random)
				found := must.Have(test.format.Newest(os.DirFS(folder)))(t)
				if found.Step < last || found.Step > last+1 {
					t.Fatalf("%+v is the newest, but %d was saved", found, last)
				}
				must.Equal(t, process.load(t, folder, found.Name), found.Step, found, "holds step")
				skipped += len(found.Skipped)
				interrupted += leftovers(t, folder, found)
			}
			t.Logf("%d rounds; in %d a newer checkpoint was passed over, in %d a save left something behind", rounds, skipped, interrupted)
		})
	}
}

// leftovers returns 1 if the folder holds files of a later save than the one found.
func leftovers(t *testing.T, folder string, found format.Found) int {
	t.Helper()
	newest := must.Have(os.Stat(filepath.Join(folder, found.Files[0])))(t)
	entries := must.Have(os.ReadDir(folder))(t)
	for _, e := range entries {
		info := must.Have(e.Info())(t)
		if info.ModTime().After(newest.ModTime()) && !slices.Contains(found.Files, e.Name()) && e.Name() != "checkpoint" {
			return 1
		}
	}
	return 0
}

// TestMXNetSorts: arrays of every storage and element type, and shapes of both kinds, are walked to the
// end.
func TestMXNetSorts(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, script(t, "mxnet", folder).Run())
	for _, name := range []string{"sparse-0001", "shapes-0001"} {
		must.Have((format.MXNet{}).Verify(os.DirFS(folder), name))(t)
	}
}
