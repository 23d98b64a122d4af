// This file implements the growth between two checks, [Zheng] (4.1) and (4.2), over means of readings and with
// its sign.

package growth

// pacers is how many of the newest readings before a check the mean is taken of: more would be freer of noise,
// and late.
const pacers = 4

// pace compares the newest readings before a check with those before the check before. Its fields are exported
// for encoding/json only.
type pace struct {
	Newest [pacers]Point `json:"newest"` // in turn
	N      int           `json:"n"`      // readings since the newest check
	Before Point         `json:"before"` // mean before the newest check
	Checks int           `json:"checks"` // checks with readings, at most 2
	// Fall is by how much the value fell per unit of work between the two newest checks, Largest the largest
	// size of that.
	Fall    float64 `json:"fall"`
	Largest float64 `json:"largest"`
}

func (p *pace) add(work, value float64) {
	p.Newest[p.N%pacers] = Point{work, value}
	p.N++
}

// check closes the time since the check before. One without a reading that counts says nothing new, and one
// without work either.
func (p *pace) check() {
	n := min(p.N, pacers)
	if n == 0 {
		return
	}
	var mean Point
	for _, r := range p.Newest[:n] {
		mean.Work += r.Work / float64(n)
		mean.Value += r.Value / float64(n)
	}
	before := p.Before
	p.Before, p.N = mean, 0
	if p.Checks = min(p.Checks+1, 2); p.Checks < 2 || !(mean.Work > before.Work) {
		return
	}
	p.Fall = max(-growthLimit, min((before.Value-mean.Value)/(mean.Work-before.Work), growthLimit))
	p.Largest = max(p.Largest, p.Fall, -p.Fall)
}

// Pace returns the growth per unit of work between the two newest checks, (4.2), with its sign: negative where
// the job gets worse. It is taken of the means of up to four readings before each check that were not
// held back as wrong, so it is less noisy than [Series.Efficiency], which it is where there are too few.
func (s *Series) Pace(n Normalization) float64 {
	c := &s.course
	if c.Pace.Checks < 2 {
		return s.Efficiency(n)
	}
	better := c.Direction.better(c.Pace.Fall, c.Start-c.Pace.Before.Value)
	if better < 0 {
		return -n.scaled(-better, s.now.First, c.Pace.Largest)
	}
	return n.scaled(better, s.now.First, c.Pace.Largest)
}

// halfPace returns the gain of the last half of the run by unit of work, in the scale of [Series.Pace]; 0 where it got
// worse, and without evidence.
func (s *Series) halfPace(n Normalization) float64 {
	c := &s.course
	if !c.Proven || c.Half < 0 {
		return 0
	}
	return n.scaled(c.Half, s.now.First, c.Pace.Largest)
}
