// This file implements Certify: an upper bound on what any schedule of all jobs could have earned, by
// weak duality, [OASiS] (19)-(20).

package primaldual

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/number"
	"github.com/apportion/apportion/primaldual/internal/schedule"
)

// Certificate bounds the offline optimum of a set of jobs from above. Every number is a bound by
// itself: for any prices that are not negative, the worth of all capacity plus the best payoff of
// every job alone on the empty cluster is at least the optimum of (19), thus of (14) and (1).
type Certificate struct {
	// Bound is the least of the bounds below.
	Bound float64
	// AtPrices is the bound of the ledger's prices, Scaled that of Theta times them, Theta in [0, 1],
	// Zero that of prices 0: the sum of what each job could earn alone.
	AtPrices, Scaled, Theta, Zero float64
	// Refined is the least bound seen in subgradient steps from the scaled prices.
	Refined float64
	// Ratio is Bound / achieved: the run earned at least 1/Ratio of the offline optimum. It is
	// infinite where nothing was earned that could have been.
	Ratio float64
}

// certificateJSON is a Certificate in JSON, where numbers may be infinite.
type certificateJSON struct {
	Bound    number.Float `json:"bound"`
	AtPrices number.Float `json:"at_prices"`
	Scaled   number.Float `json:"scaled"`
	Theta    number.Float `json:"theta"`
	Zero     number.Float `json:"zero"`
	Refined  number.Float `json:"refined"`
	Ratio    number.Float `json:"ratio"`
}

// MarshalJSON writes a certificate, an infinite ratio as the text "+Inf".
func (c Certificate) MarshalJSON() ([]byte, error) {
	return json.Marshal(certificateJSON{
		number.Float(c.Bound), number.Float(c.AtPrices), number.Float(c.Scaled), number.Float(c.Theta),
		number.Float(c.Zero), number.Float(c.Refined), number.Float(c.Ratio),
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Certificate) UnmarshalJSON(text []byte) error {
	var read certificateJSON
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*c = Certificate{
		float64(read.Bound), float64(read.AtPrices), float64(read.Scaled), float64(read.Theta),
		float64(read.Zero), float64(read.Refined), float64(read.Ratio),
	}
	return nil
}

// CertificateOptions say how much effort a certificate is worth. nil and the zero value are the
// defaults.
type CertificateOptions struct {
	// Steps is the number of subgradient steps; 0 means 60, negative none. A step costs about as much
	// as offering all jobs once more.
	Steps int
	// MaxCells is the most cells of any one table; 0 means 2^27, a negative
	// limit is ErrNegative.
	MaxCells int64
}

const (
	defaultSteps = 60
	// scalings is the number of steps of golden-section search for Theta: it is then known to 1 part
	// in 300.
	scalings = 12
)

// Certify returns an upper bound on the total utility of jobs, which are all the jobs of a run,
// refused ones too, and how far achieved, what the run earned, may be from it. The run may be that
// of any policy: commit its schedules to a ledger of the whole span, whose prices then guide the
// bound. A ledger that has advanced past an arrival is ErrRange; achieved above the bound is
// ErrConflict. Servers that are down count as up.
//
// The bound uses best payoffs that are exact to 1e-10 of a job's best utility, which is added.
// O((14 + Steps) x offering all jobs).
func Certify(ledger *Ledger, jobs []Job, achieved float64, options *CertificateOptions) (Certificate, error) {
	options = cmp.Or(options, &CertificateOptions{})
	d, err := newDual(ledger, jobs, options)
	if err != nil {
		return Certificate{}, err
	}
	if math.IsNaN(achieved) || math.IsInf(achieved, 0) {
		return Certificate{}, &apportion.FieldError{Field: "achieved", Err: apportion.ErrNotFinite, Detail: formatFloat(achieved)}
	}
	c, err := d.certificate(achieved, options.Steps)
	if err != nil {
		return Certificate{}, err
	}
	// No run earns more than the bound but by rounding: the caller has given other jobs, or a wrong total.
	if achieved > c.Bound*(1+1e-9) {
		detail := fmt.Sprintf("%g is more than any schedule earns, %g", achieved, c.Bound)
		return Certificate{}, &apportion.FieldError{Field: "achieved", Err: apportion.ErrConflict, Detail: detail}
	}
	c.Ratio = 1 // also where achieved is above the bound by rounding
	if c.Bound > achieved {
		c.Ratio = c.Bound / max(0, achieved)
	}
	return c, nil
}

// dual is the dual program (19)-(20) of a set of jobs, evaluated price by price.
type dual struct {
	jobs    []Job
	from    *market // prices of the ledger
	planner planner
	at      market    // prices at which the dual is evaluated, on empty servers
	usage   []float64 // part of the capacity that the jobs' best schedules take, by slot and cell
}

// newDual checks what Certify is given and sets up the dual at prices that are still to be chosen.
func newDual(ledger *Ledger, jobs []Job, options *CertificateOptions) (*dual, error) {
	if err := checkJobs(ledger.cluster, jobs); err != nil {
		return nil, err
	}
	for i := range jobs {
		if a := jobs[i].Arrival; a < ledger.First() || a > ledger.Last() {
			detail := fmt.Sprintf("%d is not in [%d, %d]", a, ledger.First(), ledger.Last())
			return nil, &apportion.FieldError{Item: jobs[i].item(), Field: "Arrival", Err: apportion.ErrRange, Detail: detail}
		}
	}
	limit, err := cellLimit(options.MaxCells)
	if err != nil {
		return nil, err
	}
	slots, cells := len(ledger.slots), len(ledger.capacity)
	if err := schedule.CheckCells(int64(slots), int64(cells), limit, apportion.Item{ID: "certificate"}, "slots x cells"); err != nil {
		return nil, err
	}
	d := &dual{jobs: jobs, from: &ledger.market}
	d.planner.search.Limit = limit
	// The slots of d.at are empty, since (20) must hold for schedules that exceed what is left,
	// too. With the room left at its arrival mu_i can be too small, and the bound would be none.
	d.at = market{park: ledger.park, first: ledger.first, slots: make([]slotState, slots)}
	d.at.base = make([]float64, cells)
	return d, nil
}

// certificate tries the prices of the ledger, scaled ones, none, and refines the best scaled ones.
func (d *dual) certificate(achieved float64, steps int) (Certificate, error) {
	var c Certificate
	var err error
	// The bound is convex in the factor, of which 1 and 0 are the ends: with prices 0 it is sum_i
	// f_i(n_i - 1).
	if c.AtPrices, err = d.scaled(1); err != nil {
		return c, err
	}
	if c.Zero, err = d.scaled(0); err != nil {
		return c, err
	}
	if c.Scaled, c.Theta, err = d.bestScale(c); err != nil {
		return c, err
	}
	steps = cmp.Or(steps, defaultSteps)
	if c.Refined, err = d.refine(c, achieved, steps); err != nil {
		return c, err
	}
	c.Bound = min(c.AtPrices, c.Zero, c.Scaled, c.Refined)
	return c, nil
}

// scaled returns the bound at theta times the prices of the ledger.
func (d *dual) scaled(theta float64) (float64, error) {
	times := func(dst, prices []float64) []float64 {
		dst = slices.Grow(dst[:0], len(prices))[:len(prices)]
		for i, p := range prices {
			dst[i] = float64(theta * p)
		}
		return dst
	}
	// Slots that nobody used keep price nil and share base, so that the search builds one table of
	// costs for all of them.
	d.at.base = times(d.at.base, d.from.base)
	for i := range d.at.slots {
		if prices := d.from.slots[i].price; prices != nil {
			d.at.slots[i].price = times(d.at.slots[i].price, prices)
		}
	}
	return d.value()
}

// bestScale searches the scale of the prices with the least bound, which is convex in the scale.
func (d *dual) bestScale(c Certificate) (least, theta float64, err error) {
	least, theta = c.AtPrices, 1
	if c.Zero < least {
		least, theta = c.Zero, 0
	}
	// Golden-section search: each step keeps one of the two probes and drops the worse side of it.
	golden := (math.Sqrt(5) - 1) / 2
	low, high := 0.0, 1.0
	probe := func(x float64) float64 {
		value, fault := d.scaled(x)
		if fault != nil {
			err = fault
		}
		if value < least {
			least, theta = value, x
		}
		return value
	}
	left, right := high-golden, golden
	atLeft, atRight := probe(left), probe(right)
	for range scalings - 2 {
		if atLeft <= atRight {
			high, right, atRight = right, left, atLeft
			left = high - float64(golden*(high-low))
			atLeft = probe(left)
		} else {
			low, left, atLeft = left, right, atRight
			right = low + float64(golden*(high-low))
			atRight = probe(right)
		}
	}
	return least, theta, err
}

// value returns the dual value at the prices of d.at, and sets d.usage where it is not nil.
func (d *dual) value() (float64, error) {
	clear(d.usage)
	sum := 0.0
	for i := range d.at.slots {
		prices := d.at.prices(&d.at.slots[i])
		for cell, c := range d.at.capacity {
			sum += float64(prices[cell] * float64(c))
		}
	}
	// Then sum_i mu_i of (19), over all jobs that came: leaving out the refused ones would bound a
	// smaller problem. mu_i = max(0, max_l f_i - cost_l). (eq. 21)
	for i := range d.jobs {
		job := &d.jobs[i]
		work, err := d.planner.whole(job)
		if err != nil {
			return inf, err
		}
		best, err := d.planner.decide(&d.at, job, work)
		if err != nil {
			return inf, err
		}
		switch best.Verdict {
		case Admitted, TooExpensive:
			// The search counts payoffs up to slack as 0, so that mu_i may be more than Payoff by
			// so much, also where it refuses.
			sum += best.Payoff + d.planner.slack()
		}
		d.use(job, best.Schedule)
	}
	return sum, nil
}

func (d *dual) use(job *Job, schedule Schedule) {
	if d.usage == nil {
		return
	}
	for i := range schedule {
		at := (schedule[i].Slot - d.at.first) * len(d.at.capacity)
		for _, side := range []Side{Workers, ParameterServers} {
			for _, p := range schedule[i].on(side) {
				cell := d.at.machine(side, p.Server) * d.at.kinds
				for r, q := range job.demand(side) {
					if q > 0 {
						// The schedule fits empty servers, so that a capacity of which q > 0 is
						// taken is not 0.
						d.usage[at+cell+r] += float64(p.Count*q) / float64(d.at.capacity[cell+r])
					}
				}
			}
		}
	}
}

// refine takes subgradient steps from the scaled prices: a price rises where the jobs' best schedules
// together take more than the capacity and falls where they take less. Any prices give a bound, so
// the least one seen counts.
func (d *dual) refine(c Certificate, achieved float64, steps int) (float64, error) {
	least := c.Scaled
	if steps < 0 {
		return least, nil
	}
	d.usage = make([]float64, len(d.at.slots)*len(d.at.capacity))
	for i := range d.at.slots {
		s := &d.at.slots[i]
		if s.price == nil {
			s.price = append([]float64(nil), d.at.base...)
			copy(s.price, d.from.base)
		} else {
			copy(s.price, d.from.slots[i].price)
		}
		for cell := range s.price {
			s.price[cell] *= c.Theta
		}
	}
	for k := range steps {
		value, err := d.value()
		if err != nil {
			return 0, err
		}
		least = min(least, value)
		// value - achieved is what the dual could still fall by at most. Half of it, damped as k
		// grows, keeps the steps from leaping to and fro over the corners of a function that is
		// convex but not smooth.
		d.step((value - achieved) / 2 / (1 + float64(k)/6))
	}
	return least, nil
}

// step moves prices against the subgradient by size over its square norm. The variables are the
// prices of whole servers, p c, so that the steps do not depend on units: the subgradient is the part
// of the server that is not taken. Prices that are 0 and would fall take no part.
func (d *dual) step(size float64) {
	cells := len(d.at.capacity)
	norm := 0.0
	each := func(move func(price *float64, gradient, capacity float64)) {
		for i := range d.at.slots {
			for cell, c := range d.at.capacity {
				// The derivative of (19) by the price p c of a whole server is 1 - g/c.
				gradient := 1 - d.usage[i*cells+cell]
				if price := &d.at.slots[i].price[cell]; c > 0 && (*price > 0 || gradient < 0) {
					move(price, gradient, float64(c))
				}
			}
		}
	}
	each(func(_ *float64, gradient, _ float64) { norm += float64(gradient * gradient) })
	if norm == 0 || size <= 0 {
		return
	}
	each(func(price *float64, gradient, capacity float64) {
		*price = max(0, *price-float64(size/norm*gradient)/capacity)
	})
}
