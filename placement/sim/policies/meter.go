// This file measures what jobs use on average between two readings, R of [Zheng] (4.2).

package policies

import (
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/placement/sim"
)

// meters are counters of what jobs use, by ID.
type meters map[string]*growth.Counter

// read returns the average usage of a job since its reading before, as a share of a worker; the first
// measures nothing, and so does one at the same instant as the one before.
func (m meters) read(job *sim.JobState, now time.Duration) growth.Usage {
	if m[job.ID] == nil {
		m[job.ID] = new(growth.Counter)
	}
	return m[job.ID].Usage(now, job.Used())
}
