// This file saves and restores the state of a job.

package train

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// state is all that a job needs to go on. JSON keeps every float64 as it is.
type state struct {
	Model    string    `json:"model"`
	Seed     uint64    `json:"seed"`
	Step     int64     `json:"step"`
	Params   []float64 `json:"params"`
	Momentum []float64 `json:"momentum"`
}

// newState is the state before the first step.
func newState(job *Job, m model) *state {
	params := m.start(rand.New(rand.NewPCG(job.Seed, math.MaxUint64)))
	return &state{Model: job.Model, Seed: job.Seed, Params: params, Momentum: make([]float64, len(params))}
}

// save writes the state, whole or not at all.
func (s *state) save(path string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return vfs.WriteFile(path, data)
}

// restore reads a state and checks that it is one of this job.
// A file that is whole and of another job is refused, since a store may have mixed two up.
func restore(job *Job, m model) (*state, error) {
	data, err := os.ReadFile(job.Restore)
	if err != nil {
		return nil, err
	}
	s, fresh := &state{}, newState(job, m)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("train: %s: %w", job.Restore, err)
	}
	if s.Model != job.Model || s.Seed != job.Seed || len(s.Params) != len(fresh.Params) || len(s.Momentum) != len(fresh.Params) || s.Step < 0 {
		return nil, fmt.Errorf("train: %s is of another job: model %s, seed %d, step %d, %d parameters", job.Restore, s.Model, s.Seed, s.Step, len(s.Params))
	}
	return s, nil
}
