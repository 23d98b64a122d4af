// This file implements what a runner remembers of the processes that it has looked at: most of those of a machine are of no job, and
// to read each of them again for every run that is stopped would be the most of a Stop.

package command

import (
	"maps"
	"strings"
	"sync"
)

// met is a process as it was when it was read whole.
type met struct {
	// identity is the number of proc.Identity.
	identity uint64
	// start is that of its process.
	start uint64
	// run is the folder of the run that its environment named; empty: it named none.
	run string
}

// processTable has the processes that were read whole and were of no run that was asked for, by their number. The zero value is empty.
type processTable struct {
	mu  sync.Mutex
	met map[int]met
}

// passes reports whether the process that has a number now need not be read again for a job of which nothing was alive at a time: it
// was read before, is older, and its environment named no run of the job. A process becomes part of a run by being started
// for it, so whatever was alive before is of none and will be of none; what it has executed since it was read changes nothing. It
// costs one system call, and none for a number that is new, or where the time is 0, which says that it is not known.
func (c *processTable) passes(pid int, j jobFolder, since uint64) bool {
	c.mu.Lock()
	m, known := c.met[pid]
	c.mu.Unlock()
	if !known || m.start >= since || strings.HasPrefix(m.run, j.runs()) {
		return false
	}
	identity, there := identityOf(pid)
	return there && identity == m.identity
}

// note remembers a process, in the place of the one that had its number before.
// The identity in m was asked before the rest was read, see members.
func (c *processTable) note(pid int, m met) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.met == nil {
		c.met = map[int]met{}
	}
	c.met[pid] = m
}

// keep forgets the processes that are not listed any more, so that no more are remembered than there are.
// listed has the numbers of one look at all of /proc.
func (c *processTable) keep(listed map[int]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.met, func(pid int, _ met) bool { return !listed[pid] })
}
