// This file tests what counts as a sign of life of a job.

package driver

import (
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
)

// A job tells a step and then none, for the first try of a save as long as it takes, and for a minute of whatever counts.
func TestSignsOfLife(t *testing.T) {
	const begins, steps = 1, 2
	for name, c := range map[string]struct {
		phase checkpoint.Phase
		tries int
		want  bool
	}{
		"runs":                        {checkpoint.Running, 0, true},
		"is saved":                    {checkpoint.Saving, 0, false},
		"is saved again":              {checkpoint.Saving, 1, true},
		"is read back":                {checkpoint.Verifying, 0, false},
		"is read back, saved again":   {checkpoint.Verifying, 1, false},
		"is being begun":              {checkpoint.Resuming, 0, false},
		"is being begun another time": {checkpoint.Resuming, 1, false},
	} {
		j := &checkpoint.Job{Name: "a", Attempt: 1, Phase: checkpoint.Running}
		v := view{jobs: map[string]*checkpoint.Job{"a": j}, progress: map[string]runner.Progress{"a": {Step: 0}}, moved: map[string]moved{}}
		at := func(second int64) time.Time { return time.Unix(second, 0) }
		v.stalled(at(begins), time.Minute)
		v.progress["a"] = runner.Progress{Step: 1}
		v.stalled(at(steps), time.Minute)
		j.Phase, j.Tries = c.phase, c.tries
		v.stalled(at(steps+30), time.Minute)
		if news := v.stalled(at(steps+61), time.Minute); (len(news) > 0) != c.want {
			t.Errorf("a job that %s: %v, want %v", name, news, c.want)
		}
		// What answered a save counts from then on, also where that has to be made once more.
		j.Phase, j.Tries = checkpoint.Saving, 1
		if news := v.stalled(at(steps+90), time.Minute); (len(news) > 0) != (c.phase == checkpoint.Running || c.phase == checkpoint.Saving) {
			t.Errorf("a job that %s, and is saved again: %v", name, news)
		}
	}
}
