// This file checks that a job's curve does not depend on how many processes do it and how often it is
// interrupted.

package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/apportion/apportion/internal/must"
)

// play runs all processes of a job in this one, from a checkpoint or from the beginning, up to a step, at
// which it saves into saved, and returns the losses by step.
func play(t *testing.T, job Job, size int, saved string) map[int64]float64 {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	curve := map[int64]float64{}
	job.Size, job.Dir = size, t.TempDir()
	job.Report = func(step int64, loss float64) error { curve[step] = loss; return nil }
	job.Save = func(step int64, write func(string) error) error {
		if saved != "" && step == 20 {
			return errors.Join(write(saved), errStop)
		}
		return nil
	}
	failed := make(chan error, size)
	for rank := range size {
		mine := job
		mine.Rank = rank
		go func() { failed <- Run(ctx, mine) }()
	}
	for range size {
		if err := <-failed; err != nil && saved == "" {
			t.Fatal(err)
		}
	}
	return curve
}

var errStop = errors.New("stop")

func TestCurveDoesNotDependOnProcesses(t *testing.T) {
	for _, name := range []string{"logistic", "network"} {
		job := Job{Model: name, Steps: 60, Seed: 7}
		alone := play(t, job, 1, "")
		if len(alone) != 60 || alone[60] >= alone[1] {
			t.Fatalf("%s: %d steps, loss from %v to %v", name, len(alone), alone[1], alone[60])
		}
		saved := filepath.Join(t.TempDir(), "state")
		resized := play(t, job, 3, saved)
		job.Restore = saved
		for step, loss := range play(t, job, 2, "") {
			resized[step] = loss
		}
		for step, loss := range alone {
			if math.Abs(resized[step]-loss) > 1e-9 {
				t.Errorf("%s: step %d: %v alone, %v resized from 3 to 2", name, step, loss, resized[step])
			}
		}
	}
}

// Every entry of the gradient is the slope of the loss.
func TestGradient(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	d := newData(3)
	x, y := d.batchOf(3, 5, 0, 8)
	for _, m := range []model{logistic{}, network{}} {
		params := m.start(random)
		for i := range params {
			params[i] = random.NormFloat64() / 2
		}
		gradient := make([]float64, len(params))
		m.gradient(gradient, params, x, y)
		for i := range params {
			if want := slope(m, params, i, x, y); math.Abs(gradient[i]-want) > 1e-4 {
				t.Errorf("%T: parameter %d: %v, by differences %v", m, i, gradient[i], want)
			}
		}
	}
}

func slope(m model, params []float64, i int, x *mat.Dense, y []float64) float64 {
	const h = 1e-5
	at := func(shift float64) float64 {
		moved := append([]float64(nil), params...)
		moved[i] += shift
		return m.gradient(make([]float64, len(params)), moved, x, y)
	}
	return (at(h) - at(-h)) / (2 * h)
}

func TestBatchIsDividedOnce(t *testing.T) {
	d := newData(1)
	whole, _ := d.batchOf(1, 9, 0, 1)
	rows, _ := whole.Dims()
	total := 0
	for rank := range 5 {
		x, y := d.batchOf(1, 9, rank, 5)
		total += len(y)
		for i := range y {
			must.Equal(t, x.At(i, 0), whole.At(rank+i*5, 0), "rank", rank, "has another sample at", i)
		}
	}
	if rows != batch || total != batch {
		t.Errorf("%d samples, in parts %d", rows, total)
	}
	if _, y := d.batchOf(1, 9, 70, 80); y != nil {
		t.Errorf("a process beyond the batch has %d samples", len(y))
	}
}

func TestRefusals(t *testing.T) {
	good := Job{Model: "logistic", Steps: 1, Size: 1, Dir: t.TempDir()}
	for name, spoil := range map[string]func(*Job){
		"unknown model": func(j *Job) { j.Model = "forest" },
		"out of range":  func(j *Job) { j.Rank = 1 },
		"no such file":  func(j *Job) { j.Restore = filepath.Join(t.TempDir(), "state") },
	} {
		job := good
		spoil(&job)
		if err := Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := Job{Model: "logistic", Seed: 1}
	good.Restore = filepath.Join(t.TempDir(), "state")
	must.Do(t, newState(&other, logistic{}).save(good.Restore))
	if err := Run(t.Context(), good); err == nil || !strings.Contains(err.Error(), "another job") {
		t.Errorf("state of another seed: %v", err)
	}
	must.Do(t, os.WriteFile(good.Restore, []byte(`{"model":`), 0o600))
	if err := Run(t.Context(), good); err == nil || !strings.Contains(err.Error(), "unexpected end") {
		t.Errorf("half a state: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	job := Job{Model: "logistic", Steps: 1 << 40, Size: 2, Dir: t.TempDir(), Rank: 1}
	must.Err(t, Run(ctx, job), context.DeadlineExceeded, "worker without process 0")
}
