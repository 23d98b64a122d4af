// This file implements cordons: servers on which nothing more is placed.

package checkpoint

import (
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// cordon refuses a server that is not there, and a time that cannot be written down.
func (m *Machine) cordon(c Cordon) error {
	var faults apportion.Faults
	checkDeadline(&faults, c.Until)
	before := m.servers[c.ID]
	if before == nil {
		faults.Add(check.Item("server", c.ID, 0), "ID", apportion.ErrUnknown, "")
	}
	if err := faults.Err(); err != nil {
		return err
	}
	host := *before
	host.Cordoned, host.Detail, host.Until = !c.Over, c.Detail, c.Until.UTC().Round(0)
	if c.Over {
		host.Detail, host.Until = "", time.Time{}
	}
	// What is no news is not written down.
	if host.Cordoned != before.Cordoned || host.Detail != before.Detail || !host.Until.Equal(before.Until) {
		m.put(&host)
	}
	return nil
}

// uncordon ends the cordons that are over by now. O(servers).
// It goes by the time that Tick tells, not by how much of it has counted: Until is a time of day that somebody has named.
func (m *Machine) uncordon(now time.Time) {
	for _, before := range m.servers {
		if !before.Until.IsZero() && !now.Before(before.Until) {
			host := *before
			host.Cordoned, host.Detail, host.Until = false, "", time.Time{}
			m.put(&host)
		}
	}
}

// places counts how often the job has containers on a server, or is to have, whichever is more: O(containers).
func (j *Job) places() map[string]int {
	most := map[string]int{}
	for _, list := range [][]string{j.Containers, j.Target, j.Wanted} {
		count := map[string]int{}
		for _, server := range list {
			count[server]++
			most[server] = max(most[server], count[server])
		}
	}
	return most
}
