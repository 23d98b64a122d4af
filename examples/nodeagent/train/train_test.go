// This file checks that training trains.

package train

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestLossFalls(t *testing.T) {
	var first, again bytes.Buffer
	job := Job{Epochs: 60, Hidden: 16, Rate: 0.01, Seed: 7}
	for _, w := range []*bytes.Buffer{&first, &again} {
		must.Do(t, Run(w, job))
	}
	must.Equal(t, first.String(), again.String(), "the same job printed something else")
	lines := strings.Split(strings.TrimSpace(first.String()), "\n")
	must.Equal(t, len(lines), job.Epochs, "lines")
	var losses []float64
	for i, line := range lines {
		var epoch int
		var loss float64
		if _, err := fmt.Sscan(line, &epoch, &loss); err != nil || epoch != i+1 {
			t.Fatalf("line %d: %q (%v)", i, line, err)
		}
		losses = append(losses, loss)
	}
	if begin, end := losses[0], losses[len(losses)-1]; !(end < begin/2) {
		t.Errorf("loss went from %v to %v, want less than half", begin, end)
	}
}

// The gradient that learn follows is that of the squared error.
func TestGradient(t *testing.T) {
	n := &network{in: [][inputs]float64{{0.3, -0.2}}, out: []float64{0.7}, act: make([]float64, 1)}
	x := [inputs]float64{1, 2}
	before := n.learn(&x, 1, 1e-4)
	if after := n.learn(&x, 1, 1e-4); !(after < before) {
		t.Errorf("error went from %v to %v", before, after)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestFaults(t *testing.T) {
	for _, job := range []Job{{}, {Epochs: 1, Hidden: 1}, {Epochs: 1, Rate: 0.1}, {Hidden: 1, Rate: 0.1}, {Epochs: 1, Hidden: 1, Rate: 1}} {
		must.Err(t, Run(&bytes.Buffer{}, job), must.ErrAny, job, "no error")
	}
	must.Err(t, Run(broken{}, Job{Epochs: 1, Hidden: 1, Rate: 0.1}), must.ErrAny, "no error from a writer that is broken")
}
