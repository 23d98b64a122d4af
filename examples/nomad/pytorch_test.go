// This file plays real PyTorch jobs on a real Nomad cluster: they are resized while they train, and their losses are those of
// undisturbed runs.

package nomad

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/workerlog"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// frameworksVariable names the folder that `make frameworks` fills.
const frameworksVariable = "APPORTION_FRAMEWORKS"

// python is a folder with trainers in Python, and what runs them.
type python struct{ program, dir string }

// newPython writes the trainers of examples/live into a folder.
func newPython(t *testing.T) *python {
	t.Helper()
	folder := os.Getenv(frameworksVariable)
	if folder == "" {
		if os.Getenv("APPORTION_REQUIRE_FRAMEWORKS") != "" {
			t.Fatalf("%s is not set: make frameworks installs them", frameworksVariable)
		}
		t.Skipf("%s is not set: make frameworks installs them", frameworksVariable)
	}
	p := &python{filepath.Join(folder, "pytorch", "bin", "python"), t.TempDir()}
	must.Do(t, os.CopyFS(p.dir, os.DirFS("../live/trainers")))
	must.Do(t, os.WriteFile(filepath.Join(p.dir, "workerlog.py"), workerlog.Python, 0o600))
	return p
}

// steps is how many steps the jobs have.
const steps = 150

// argv is the command line of a container: the trainer, told where its checkpoint is in its own words.
func (p *python) argv(cell string) []string {
	return []string{"/bin/sh", "-c", `test -z "$APPORTION_RESTORE_DIR" || export APPORTION_RESTORE="$(echo "$APPORTION_RESTORE_DIR"/*.pt)"; exec "$@"`, "sh",
		p.program, filepath.Join(p.dir, "pytorch_rows.py"), "--cell", cell, "--steps", strconv.Itoa(steps), "--cost", "0.005"}
}

// env is what the trainers are told beside that: one thread each, and the loopback alone.
func (p *python) env() map[string]string {
	return map[string]string{frameworksVariable: os.Getenv(frameworksVariable), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
		"PYTHONDONTWRITEBYTECODE": "1"}
}

// alone runs a job by itself, in one process, and returns its losses.
func (p *python) alone(t *testing.T, cell string) map[int64]float64 {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "job", "1")
	must.Do(t, os.MkdirAll(dir, 0o755))
	argv := p.argv(cell)
	cmd := exec.Command(argv[0], append(argv[1:len(argv)-1:len(argv)-1], "0")...) // without waiting
	cmd.Env = append(os.Environ(), command.EnvCheckpointDir+"="+dir)
	for key, value := range p.env() {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return losses(t, filepath.Dir(dir))
}

// losses reads the losses of all attempts of a job: what was done again counts as it was done last.
func losses(t *testing.T, folder string) map[int64]float64 {
	t.Helper()
	entries := must.Have(os.ReadDir(folder))(t)
	var attempts []int
	for _, entry := range entries {
		if attempt, err := strconv.Atoi(entry.Name()); err == nil {
			attempts = append(attempts, attempt)
		}
	}
	slices.Sort(attempts)
	values := map[int64]float64{}
	for _, attempt := range attempts {
		text, err := os.ReadFile(filepath.Join(folder, strconv.Itoa(attempt), "curve.jsonl"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was ended before it did anything
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var point struct {
				Step  int64   `json:"step"`
				Value float64 `json:"value"`
			}
			if json.Unmarshal(line, &point) == nil { // a worker that was killed may leave half a line
				values[point.Step] = point.Value
			}
		}
	}
	return values
}

// tolerance bounds what the order of sums of float32 changes in a loss, as a part of the first one. A step that is left out
// or done twice changes more than ten times as much.
const tolerance = 1e-4

// Two jobs share a cluster of four containers: the first is shrunk for the second, and the second has all when the first is
// done.
func TestPyTorch(t *testing.T) {
	p := newPython(t)
	b := newBench(t, "n1", "n2")
	for _, cell := range []string{"lstm", "gru"} {
		j := b.job(cell, p.argv(cell), map[string]string{metaPrefix + "max": "4"})
		task := j.TaskGroups[0].Tasks[0]
		task.Env, task.Resources.CPU = p.env(), ptr(4000)
		b.register(j)
		if cell == "lstm" {
			b.Holds(map[string]int{"lstm": 4})
		}
	}
	b.Holds(map[string]int{"lstm": 2, "gru": 2})
	processes.Eventually(b.Bench, "both have done their work", 240*time.Second, func() bool { b.Report(); return b.Left() == 0 })
	b.Check()
	for _, cell := range []string{"lstm", "gru"} {
		got, want := losses(t, filepath.Join(b.Shared, "runs", cell)), p.alone(t, cell)
		if len(got) != steps || len(want) != steps {
			t.Fatalf("%s: %d and %d of %d steps", cell, len(got), len(want), steps)
		}
		off := 0.0
		for step, value := range want {
			off = max(off, math.Abs(got[step]-value)/math.Abs(want[1]))
		}
		t.Logf("%s: off an undisturbed run by %.1g", cell, off)
		if !(off < tolerance) {
			t.Errorf("%s: its losses differ by %.2g of the first one from those of an undisturbed run", cell, off)
		}
	}
}
