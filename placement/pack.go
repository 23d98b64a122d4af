// This file implements the packing rules that schedulers share: first fit, best fit, round robin,
// and spreading to the fewest containers first.

package placement

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
)

// Rule chooses a server for a container among those that have room. Ties go to the first server.
type Rule string

// The rules.
const (
	// FirstFit takes the first server in the order of the list.
	FirstFit Rule = "first-fit"
	// BestFit takes the server that the container fills best: the least of what is left over,
	// measured by the kind of which it leaves the largest share of the whole cluster. A server
	// with idle GPUs is thus the last to get a container that needs none.
	BestFit Rule = "best-fit"
	// RoundRobin takes the next server after the one taken before; a container that fits nowhere
	// leaves the pointer where it was.
	RoundRobin Rule = "round-robin"
	// FewestFirst takes the server with the fewest containers, as Docker Swarm's spread does.
	FewestFirst Rule = "fewest-first"
)

// Bin is one server as a [Packer] sees it.
type Bin struct {
	// Free is what is left; negative quantities are legal and leave no room.
	Free apportion.Resources
	// Containers is how many run there; it matters to [FewestFirst] only. Not negative.
	Containers int64
}

// Bins returns the bins of servers on which nothing runs yet.
func Bins(servers []apportion.Server) []Bin {
	bins := make([]Bin, len(servers))
	for j, server := range servers {
		bins[j].Free = server.Capacity.Clone()
	}
	return bins
}

// fits reports whether there is room for one container: in every kind that it demands, and in the
// count of containers.
func (b *Bin) fits(demand apportion.Resources) bool {
	for k, q := range demand {
		if q > 0 && q > b.Free[k] {
			return false
		}
	}
	return b.Containers < math.MaxInt64
}

// Packer places containers on servers by one rule and keeps what is left of each. It is not safe
// for concurrent use.
type Packer struct {
	rule Rule
	bins []Bin
	// total is the sum of what was free at the start, at most math.MaxInt64: only shares of it
	// are compared.
	total apportion.Resources
	next  int // where RoundRobin starts
}

// NewPacker returns a Packer for servers whose quantities are over kinds. The bins are copied. All
// faults of the input are returned at once, as apportion.Faults.
func NewPacker(rule Rule, kinds apportion.Kinds, bins []Bin) (*Packer, error) {
	if err := checkBins(rule, kinds, bins); err != nil {
		return nil, err
	}
	p := &Packer{rule: rule, bins: make([]Bin, len(bins)), total: make(apportion.Resources, len(kinds))}
	for j, bin := range bins {
		p.bins[j] = Bin{Free: bin.Free.Clone(), Containers: bin.Containers}
		for k, q := range bin.Free {
			if sum, ok := exact.Add(p.total[k], max(q, 0)); ok {
				p.total[k] = sum
			} else {
				p.total[k] = math.MaxInt64
			}
		}
	}
	return p, nil
}

func checkBins(rule Rule, kinds apportion.Kinds, bins []Bin) error {
	var faults apportion.Faults
	if !slices.Contains([]Rule{FirstFit, BestFit, RoundRobin, FewestFirst}, rule) {
		faults.Add(apportion.Item{}, "Rule", apportion.ErrUnknown, strconv.Quote(string(rule)))
	}
	for j, bin := range bins {
		before := len(faults)
		checkFree(&faults, kinds, bin.Free)
		if bin.Containers < 0 {
			faults.Add(apportion.Item{}, "Containers", apportion.ErrNegative, strconv.FormatInt(bin.Containers, 10))
		}
		attribute(faults[before:], "server", "", j)
	}
	return faults.Err()
}

// Free returns a copy of what is left on a server.
func (p *Packer) Free(server int) apportion.Resources { return p.bins[server].Free.Clone() }

// Room returns how many containers of a demand have room on a server: its free quantities and the
// largest count of containers bound it.
func (p *Packer) Room(server int, demand apportion.Resources) int64 {
	bin := &p.bins[server]
	return min(demand.CountIn(bin.Free), math.MaxInt64-bin.Containers)
}

// Take notes count containers of a demand on a server that somebody else has chosen, whether or not
// they have room: the server may have shrunk, and then its free quantities are negative. An overflow
// is apportion.ErrOverflow, a negative count apportion.ErrRange; both change nothing.
func (p *Packer) Take(server int, demand apportion.Resources, count int64) error {
	bin := &p.bins[server]
	if count < 0 || count > math.MaxInt64-bin.Containers {
		return &apportion.FieldError{Item: check.Item("server", "", server), Field: "Containers", Err: apportion.ErrRange,
			Detail: fmt.Sprintf("%d beside %d", count, bin.Containers)}
	}
	if err := exact.AddTimesTo(bin.Free, bin.Free, -count, demand); err != nil {
		return &apportion.FieldError{Item: check.Item("server", "", server), Field: "Free", Err: err}
	}
	bin.Containers += count
	return nil
}

// Place places count equal containers, all or none, and appends where to dst: one entry for each
// choice, so a server may occur more than once. It returns false, with dst as it was and nothing
// placed, where they do not all fit; a count of 0 or less places nothing and returns true.
//
// demand must be a checked vector over the kinds. Beyond what dst needs nothing is allocated. For
// S servers, O(S) for each server that is filled, or for each container under [RoundRobin] and
// [FewestFirst].
func (p *Packer) Place(demand apportion.Resources, count int64, dst []apportion.Placement) ([]apportion.Placement, bool) {
	start, next := len(dst), p.next
	for count > 0 {
		server := p.pick(demand)
		if server < 0 {
			for _, placed := range dst[start:] {
				p.change(placed.Server, demand, -placed.Count)
			}
			p.next = next
			return dst[:start], false
		}
		// A server chosen by one of the other rules remains the choice until it is full.
		batch := int64(1)
		if p.rule != RoundRobin && p.rule != FewestFirst {
			batch = min(count, p.Room(server, demand))
		}
		p.change(server, demand, batch)
		p.next = server + 1
		dst = append(dst, apportion.Placement{Server: server, Count: batch})
		count -= batch
	}
	return dst, true
}

// Release gives back count containers of a demand that were placed on a server. An overflow is
// apportion.ErrOverflow, more containers than there are apportion.ErrRange; both change nothing.
func (p *Packer) Release(server int, demand apportion.Resources, count int64) error {
	bin := &p.bins[server]
	if count < 0 || count > bin.Containers {
		return &apportion.FieldError{Item: check.Item("server", "", server), Field: "Containers", Err: apportion.ErrRange,
			Detail: fmt.Sprintf("%d released of %d", count, bin.Containers)}
	}
	if err := exact.AddTimesTo(bin.Free, bin.Free, count, demand); err != nil {
		return &apportion.FieldError{Item: check.Item("server", "", server), Field: "Free", Err: err}
	}
	bin.Containers -= count
	return nil
}

// change places count containers on a server, or takes them back where count is negative.
func (p *Packer) change(server int, demand apportion.Resources, count int64) {
	bin := &p.bins[server]
	for k, q := range demand {
		bin.Free[k] -= count * q
	}
	bin.Containers += count
}

// pick returns the server for one container, or -1.
func (p *Packer) pick(demand apportion.Resources) int {
	best := -1
	for i := range p.bins {
		j := i
		if p.rule == RoundRobin {
			j = (p.next + i) % len(p.bins)
		}
		if !p.bins[j].fits(demand) {
			continue
		}
		if p.rule == FirstFit || p.rule == RoundRobin {
			return j
		}
		if best < 0 || p.better(j, best, demand) {
			best = j
		}
	}
	return best
}

// better reports whether server i is better than server j by a rule that compares.
func (p *Packer) better(i, j int, demand apportion.Resources) bool {
	switch p.rule {
	case FewestFirst:
		return p.bins[i].Containers < p.bins[j].Containers
	default:
		leftI, kindI := p.left(i, demand)
		leftJ, kindJ := p.left(j, demand)
		return exact.Less(leftI, p.total[kindJ], leftJ, p.total[kindI])
	}
}

// left returns what a container would leave on a server of the kind of which it leaves the largest
// share of the total. Kinds of which there is nothing take no part; where that is all of them, 0
// of the first.
func (p *Packer) left(server int, demand apportion.Resources) (quantity int64, kind int) {
	free := p.bins[server].Free
	kind = -1
	for k, total := range p.total {
		if total == 0 {
			continue
		}
		left := max(free[k]-demand[k], 0)
		if kind < 0 || exact.Less(quantity, total, left, p.total[kind]) {
			quantity, kind = left, k
		}
	}
	return quantity, max(kind, 0)
}
