// This file implements the orders of a policy: it checks them and carries them out.

package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// ErrOrder is what every OrderError wraps.
var ErrOrder = errors.New("sim: the order cannot be carried out")

// OrderError is an order that makes no sense: of which policy and when, about which job, which order,
// and why. The simulation ends with it, since what the policy meant cannot be known.
type OrderError struct {
	// Policy is the policy's name, At the instant of the decision.
	Policy string
	At     time.Duration
	// Job is empty where the order is about no job.
	Job string
	// Order is "place", "limit", "refuse" or "next".
	Order string
	// Detail is what is wrong with it, with the numbers.
	Detail string
}

// Error names everything.
func (e *OrderError) Error() string {
	about := ""
	if e.Job != "" {
		about = ", job " + strconv.Quote(e.Job)
	}
	return fmt.Sprintf("sim: policy %q at %v%s: cannot %s: %s", e.Policy, e.At, about, e.Order, e.Detail)
}

// Unwrap returns ErrOrder.
func (*OrderError) Unwrap() error { return ErrOrder }

// carryOut checks the orders and carries them out: places first, then limits and refusals. What is left
// after an error is of no use. O(n log n) for n orders and jobs.
func (c *cluster) carryOut(o *Orders) error {
	var byID map[string]*job
	if len(o.Places)+len(o.Limits)+len(o.Refused) > 0 {
		c.idle, c.changed = 0, true
		byID = make(map[string]*job, len(c.jobs))
		for _, j := range c.jobs {
			byID[j.ID] = j
		}
	}
	if err := c.placeAll(byID, o.Places); err != nil {
		return err
	}
	if err := c.limitAll(byID, o.Limits); err != nil {
		return err
	}
	if err := c.refuseAll(byID, o.Refused); err != nil {
		return err
	}
	// A wish from an earlier decision does not outlive the next one.
	c.wake = never
	if o.Next != 0 {
		c.wake = o.Next
	}
	if c.wake <= c.now {
		return c.wrong("", "next", "ask again at "+c.wake.String()+", which is over")
	}
	if slot := c.scenario.Slot; slot > 0 && c.wake < never-slot {
		c.wake += (slot - c.wake%slot) % slot
	}
	return nil
}

func (c *cluster) wrong(job, order, detail string) error {
	return &OrderError{Policy: c.policy.Name(), At: c.now, Job: job, Order: order, Detail: detail}
}

// placeAll gives jobs their new containers, if all of them have room. The room is looked at when everybody
// has let go of what he had, so that jobs may change places.
func (c *cluster) placeAll(byID map[string]*job, places []Place) error {
	var changed []*job
	seen := make(map[string]bool, len(places))
	for _, p := range places {
		j := byID[p.Job]
		if j == nil || seen[p.Job] {
			return c.wrong(p.Job, "place", "it is not there, or placed twice")
		}
		seen[p.Job] = true
		if fault := c.tidy(j, &p); fault != "" {
			return c.wrong(p.Job, "place", fault)
		}
		// An order that changes nothing is no adjustment, and costs the job no pause.
		if !slices.Equal(j.places, p.On) || !slices.Equal(j.ps, p.PS) {
			j.places, j.ps, j.why = p.On, p.PS, p.Why
			changed = append(changed, j)
		}
	}
	if blame, fault := c.law.room(c.scenario, c.jobs); blame != nil {
		return c.wrong(blame.ID, "place", fault)
	}
	for _, j := range changed {
		if j.holds() {
			c.adjusted++
		}
		if err := j.change(c.now, c.scenario.AdjustCost); err != nil {
			return err
		}
	}
	return nil
}

// tidy sorts the placements, adds up those of one server, and returns what is wrong with them; empty:
// nothing.
func (c *cluster) tidy(j *job, p *Place) (fault string) {
	var n, ps int64
	if p.On, n, fault = merge(p.On, len(c.scenario.Servers)); fault != "" {
		return fault
	}
	if p.PS, ps, fault = merge(p.PS, len(c.scenario.ParameterServers)); fault != "" {
		return "parameter servers: " + fault
	}
	// Nothing at all is always allowed: that suspends the job.
	if n != 0 && (n < j.Min || n > j.Max) {
		return fmt.Sprintf("%d containers are not in [%d, %d]", n, j.Min, j.Max)
	}
	// Workers run only with all parameter servers that they need, and these serve nobody else.
	var want int64
	if j.Training != nil {
		want = j.Training.PSFor(n)
	}
	if ps != want {
		return fmt.Sprintf("%d parameter servers for %d containers, want %d", ps, n, want)
	}
	return ""
}

// merge returns placements ascending by server, one for each, and their sum; fault is what is wrong with
// one of them. The policy's own slice stays as it is.
func merge(places []apportion.Placement, servers int) (tidy []apportion.Placement, sum int64, fault string) {
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b apportion.Placement) int { return a.Server - b.Server })
	for _, p := range places {
		if p.Server < 0 || p.Server >= servers || p.Count < 1 {
			return nil, 0, fmt.Sprintf("%d containers on server %d of %d", p.Count, p.Server, servers)
		}
		total, ok := exact.Add(sum, p.Count)
		if !ok {
			return nil, 0, "more containers than can be counted"
		}
		sum = total
		if last := len(tidy) - 1; last >= 0 && tidy[last].Server == p.Server {
			tidy[last].Count += p.Count
			continue
		}
		tidy = append(tidy, p)
	}
	return tidy, sum, ""
}

// limitAll sets limits, where the law has any.
func (c *cluster) limitAll(byID map[string]*job, limits []Limit) error {
	// A limit may be above the demand: it then limits nothing.
	for _, l := range limits {
		j := byID[l.Job]
		if j == nil || j.limit == 0 || l.Share < 1 {
			return c.wrong(l.Job, "limit", strconv.FormatInt(l.Share, 10)+" is no share of a job that shares a worker")
		}
		j.limit = l.Share
	}
	return nil
}

// refuseAll lets jobs go that have never run: a job that has would lose its work.
func (c *cluster) refuseAll(byID map[string]*job, refused []string) error {
	for _, id := range refused {
		j := byID[id]
		if j == nil || j.outcome.Started || j.outcome.Refused {
			return c.wrong(id, "refuse", "it is not there, or has run")
		}
		j.outcome.Refused = true
	}
	if len(refused) > 0 {
		c.jobs = slices.DeleteFunc(c.jobs, func(j *job) bool { return j.outcome.Refused })
	}
	return nil
}
