// This file says which problems have events that are decided by themselves, [Program §15].

package alloc

import "slices"

// Quantities and costs up to these can be summed over any number of servers or applications that fits in memory.
const (
	mostOfServer = 1 << 40
	mostAdjust   = 1 << 20
)

// plain returns why events on p cannot be decided by themselves; empty where they can.
func (p *Problem) plain() string {
	switch o := &p.Options; {
	case o.Paper:
		return "the paper's rule is in force"
	case o.ReclaimLevel && p.Queues != nil:
		return "queues may take what others have above their level"
	case len(p.Reservations) > 0 && p.Queues != nil:
		return "something is reserved, and there are queues"
	case len(p.Derived) > 0:
		return "there are derived kinds"
	case len(p.Compact) > 0:
		return "some kinds are compact"
	case o.MinRun > 0:
		return "what has just changed is protected"
	case o.Share != BoundedDRF:
		return "shares are by another rule"
	case o.Loss != LossInShares:
		return "losses are in worth"
	}
	for i := range p.Applications {
		app := &p.Applications[i]
		if reason := app.plain(); reason != "" {
			return reason
		}
	}
	for j := range p.Servers {
		if slices.ContainsFunc(p.Servers[j].Capacity, func(q int64) bool { return q > mostOfServer }) {
			return "a quantity is too large"
		}
	}
	return ""
}

// plain returns why an application is none that an event knows; empty where it is.
func (a *Application) plain() string {
	switch {
	case a.Options != nil:
		return "an application has options"
	case a.Worth != nil || a.WorthOn != nil || a.StayWorth != nil || a.IdleWorth != 0:
		return "an application states a worth"
	case a.Requires != nil || a.Within != "" || a.Slices != nil || a.Prefer != "":
		return "an application requires labels or domains"
	case a.RestartCost != nil:
		return "an application says what its restart costs"
	case a.Most != 0:
		return "the first growth of an application counts against no budget"
	case a.SpreadCost != nil && *a.SpreadCost != 0:
		return "servers beyond the fewest cost an application something"
	case a.PerServer != 0 || a.MaxServers != 0:
		return "an application has a limit by server"
	case a.Pinned:
		return "an application is pinned"
	case a.AdjustCost != nil && *a.AdjustCost > mostAdjust:
		return "a cost is too large"
	}
	return ""
}
