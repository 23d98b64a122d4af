// This file implements the two-phase model of Pollux and its fit, [Qiao21] §3.2, (8)-(11), and §4.1.

package speedup

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// The parameters of Pollux, by place.
const (
	gradAlpha = iota
	gradBeta
	localAlpha
	localBeta
	remoteAlpha
	remoteBeta
	overlap // gamma, in [1, mostOverlap]
	polluxParams
)

const (
	// mostOverlap is the largest gamma: beyond it the longer of the two phases is all that counts.
	mostOverlap = 10
	// little is the least that computing is taken for before the fit, as a share of the mean time of a step.
	little = 0.05
	// iterations bounds a fit; most need less than thirty. A step that lessens the loss by less than a share of settled ends it.
	iterations, settled = 100, 1e-9
	// firstDamping is how far the first step is from that of Newton, lastDamping where no step is short enough to
	// help; ease and stiffen are what a step that helped or did not makes of it.
	firstDamping, lastDamping, ease, stiffen = 1e-2, 1e9, 0.3, 4
	// usualLog is the error of a logarithm up to which errors count by their squares.
	usualLog = 0.1
)

// parts returns the two phases of a step: computing, and synchronizing, which one container has not.
func parts(p *[polluxParams]float64, c configuration) (grad, sync float64) {
	w := float64(c.containers)
	grad = p[gradAlpha] + float64(p[gradBeta]*c.samples/w) // (8)
	switch {
	// Two containers are the first that synchronize, so that slopes count from there.
	case c.containers == 1:
	case c.servers == 1:
		sync = p[localAlpha] + float64(p[localBeta]*(w-2)) // (10)
	default:
		sync = p[remoteAlpha] + float64(p[remoteBeta]*(w-2))
	}
	return grad, sync
}

// twoPhase returns the time of a step, (11): between the sum of the phases and the longer one.
func twoPhase(p *[polluxParams]float64, c configuration) float64 {
	grad, sync := parts(p, c)
	long, short := max(grad, sync), min(grad, sync)
	// Without any cost there is no step to speak of, and no ratio of the phases.
	if !(long > 0) {
		return 0
	}
	// By the longer one, so that powers stay in [0, 1].
	return long * math.Pow(1+math.Pow(short/long, p[overlap]), 1/p[overlap])
}

// seen says which of the parameters the observations can tell: what was never seen is not fitted.
func seen(observations []Observation) (free [polluxParams]bool) {
	free[gradAlpha], free[gradBeta] = true, true
	for i := range observations {
		o := &observations[i]
		switch {
		case o.Containers == 1:
			continue
		case o.Servers == 1:
			free[localAlpha] = true
			// Two containers tell the constant alone, three and more the slope too.
			free[localBeta] = free[localBeta] || o.Containers > 2
		default:
			free[remoteAlpha] = true
			free[remoteBeta] = free[remoteBeta] || o.Containers > 2
		}
		free[overlap] = true
	}
	return free
}

// fitPollux returns the parameters. There is at least one observation. The search begins at several places, since it may end in a
// hollow beside the deepest one.
func fitPollux(observations []Observation) []float64 {
	f := polluxFit{observations: observations, free: seen(observations)}
	var best [polluxParams]float64
	// Of equal losses the first beginning wins, so that the result does not depend on rounding elsewhere.
	least := math.Inf(1)
	for _, place := range beginnings {
		f.begin(place)
		if loss := f.search(); loss < least {
			best, least = f.params, loss
		}
	}
	// What was never seen is filled in only now: it must not take part in the search.
	f.params = best
	f.complete()
	return f.params[:]
}

// beginning is where a search begins: what synchronizing costs, as a share of the mean time of a step, and gamma.
type beginning struct{ sync, overlap float64 }

var beginnings = []beginning{{0.05, 2}, {0.3, 1.3}, {0.3, 4}}

// polluxFit is a fit under way. Costs are searched as logarithms, which keeps them positive, and gamma as a point on an S between
// its bounds.
type polluxFit struct {
	observations []Observation
	free         [polluxParams]bool
	params       [polluxParams]float64
}

// begin sets the parameters before the search: computing as Amdahl's law has it.
func (f *polluxFit) begin(place beginning) {
	// Samples a container, then the constant: the two terms of computing, to which synchronizing comes.
	computing := fitSum(Amdahl.size(), f.observations)
	mean := 0.0
	for i := range f.observations {
		mean += f.observations[i].Seconds / float64(len(f.observations))
	}
	samples, sync := f.observations[0].each(), place.sync*mean
	// Half of the constant is left to synchronizing. No cost may begin at 0, since logarithms are searched.
	f.params = [polluxParams]float64{
		max(computing[1]/2, little*mean), max(computing[0], little*mean/samples),
		sync, sync / 4, 2 * sync, sync / 4, place.overlap,
	}
	for k, free := range f.free {
		if !free && k != overlap {
			f.params[k] = 0
		}
	}
}

// pack returns the free parameters as the search has them.
func (f *polluxFit) pack() (x []float64) {
	for k, free := range f.free {
		switch {
		case !free:
		case k == overlap:
			// The inverse of the logistic function: gamma lies in (1, mostOverlap) wherever the search goes.
			part := (f.params[k] - 1) / (mostOverlap - 1)
			x = append(x, math.Log(part/(1-part)))
		default:
			x = append(x, math.Log(f.params[k]))
		}
	}
	return x
}

func (f *polluxFit) unpack(x []float64) {
	at := 0
	for k, free := range f.free {
		if !free {
			continue
		}
		if k == overlap {
			f.params[k] = 1 + (mostOverlap-1)/(1+math.Exp(-x[at]))
		} else {
			// Beyond these a cost is nothing, or longer than any step.
			f.params[k] = math.Exp(max(-200, min(x[at], 200)))
		}
		at++
	}
}

// loss is the mean of the errors of logarithms, by their squares up to usualLog and by their sizes beyond.
func (f *polluxFit) loss(x []float64) float64 {
	f.unpack(x)
	total := 0.0
	for i := range f.observations {
		o := &f.observations[i]
		// As for the sums, errors are those of logarithms, and large ones count by their size, [Huber64].
		e := math.Abs(math.Log(twoPhase(&f.params, o.configuration()) / o.Seconds))
		if e <= usualLog {
			total += float64(e * e / 2)
		} else {
			total += float64(usualLog * (e - usualLog/2))
		}
	}
	return total / float64(len(f.observations))
}

// search lessens the loss by damped Gauss-Newton steps (Levenberg, Marquardt) from where the parameters are. Each step that is taken
// lessens it, so the search ends no worse than it began. It returns the loss.
func (f *polluxFit) search() float64 {
	x := f.pack()
	loss, damping := f.loss(x), firstDamping
	for range iterations {
		next, ok := f.step(x, damping)
		// No step of any length helps any more: this is a minimum, up to rounding.
		if !ok || damping > lastDamping {
			break
		}
		// A step that helps makes the next one bolder, one that does not is tried again, shorter.
		if now := f.loss(next); now < loss {
			done := loss-now <= settled*loss
			x, loss, damping = next, now, damping*ease
			if done {
				break
			}
			continue
		}
		damping *= stiffen
	}
	f.unpack(x)
	return loss
}

// step returns where one damped step leads; false where the system has no solution. A residual beyond usualLog has the weight by
// which its square counts as its size.
func (f *polluxFit) step(x []float64, damping float64) (next []float64, ok bool) {
	f.unpack(x)
	// The derivative of the loss is J^T W e, and J^T W J stands for its second one: few parameters, so that a
	// dense system is cheap.
	n := len(x)
	normal, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range f.observations {
		o := &f.observations[i]
		e := math.Log(twoPhase(&f.params, o.configuration()) / o.Seconds)
		weight := min(1, usualLog/max(math.Abs(e), usualLog))
		row := mat.NewVecDense(n, f.chain(f.logSlope(o.configuration())))
		normal.SymRankOne(normal, weight, row)
		right.AddScaledVec(right, -weight*e, row)
	}
	// Damping by the diagonal makes a step short in each coordinate by its own scale; the summand keeps a diagonal
	// of 0 invertible.
	for k := range n {
		normal.SetSym(k, k, float64(normal.At(k, k)*(1+damping))+float64(damping*settled))
	}
	var factor mat.Cholesky
	if !factor.Factorize(normal) {
		return nil, false
	}
	var by mat.VecDense
	if err := factor.SolveVecTo(&by, right); err != nil {
		return nil, false
	}
	next = make([]float64, n)
	for k := range next {
		// Three is a factor of twenty, as far as a straight line says anything.
		next[k] = x[k] + max(-3, min(by.AtVec(k), 3))
	}
	return next, true
}

// chain turns derivatives by the parameters into those by what is searched.
func (f *polluxFit) chain(d [polluxParams]float64) (by []float64) {
	for k, free := range f.free {
		switch {
		case !free:
		case k == overlap:
			// d gamma/dx of the logistic function is (mostOverlap - 1) part (1 - part).
			part := (f.params[k] - 1) / (mostOverlap - 1)
			by = append(by, d[k]*(mostOverlap-1)*part*(1-part))
		default:
			by = append(by, d[k]*f.params[k])
		}
	}
	return by
}

// logSlope returns the derivatives of the logarithm of a step's time by the parameters.
func (f *polluxFit) logSlope(c configuration) (d [polluxParams]float64) {
	p := &f.params
	w := float64(c.containers)
	grad, sync := parts(p, c)
	t, gamma := twoPhase(p, c), p[overlap]
	// d ln T / d G = (G/T)^gamma / G, and the same for S.
	byGrad, bySync := math.Pow(grad/t, gamma)/grad, 0.0
	d[gradAlpha], d[gradBeta] = byGrad, byGrad*c.samples/w
	// One container, or a job whose synchronizing costs nothing yet: T = G, and gamma makes no difference.
	if !(sync > 0) {
		return d
	}
	bySync = math.Pow(sync/t, gamma) / sync
	// Only the two parameters of its own kind of synchronizing matter to a configuration.
	at := remoteAlpha
	if c.servers == 1 {
		at = localAlpha
	}
	d[at], d[at+1] = bySync, bySync*(w-2)
	// ln T = ln(G^gamma + S^gamma) / gamma.
	mixed := float64(math.Pow(grad/t, gamma)*math.Log(grad/t)) + float64(math.Pow(sync/t, gamma)*math.Log(sync/t))
	d[overlap] = mixed / gamma
	return d
}

// complete fills in what was never seen: on several servers a step costs at least what it does on one, and what was
// not seen at all costs nothing.
func (f *polluxFit) complete() {
	// Nothing on several servers was seen: [Qiao21] §4.1 takes them for as cheap as one server, until they are
	// tried.
	if !f.free[remoteAlpha] {
		f.params[remoteAlpha], f.params[remoteBeta] = f.params[localAlpha], f.params[localBeta]
	}
	if !f.free[localAlpha] {
		return
	}
	// Two containers on two servers tell the constant; the slope on one server is the best guess at that on
	// several.
	if !f.free[remoteBeta] {
		f.params[remoteBeta] = f.params[localBeta]
	}
}
