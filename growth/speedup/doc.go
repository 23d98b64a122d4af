// Package speedup learns from measured step times how fast a job would train on other numbers of containers.
//
// # What it computes
//
// [Fit] makes a [Curve] of [Observation]s: containers, servers, samples in a step and seconds that it took. A curve
// predicts the time of a step, and says by leaving observations out in turn how far off such predictions are.
// An [Estimator] does so for a job that runs, one measurement after the other, and [Cold] stands for a job
// of which nothing is known. [Curve.Speeds] is the table that a scheduler wants: how much faster n containers are than one.
//
// # Notation
//
//	symbol           Go name                     unit      where
//	w, K             Observation.Containers      -         Peng §3.2, Qiao §3.2
//	p, N             Observation.Servers         -         Peng §3.2, Qiao §3.2
//	M                Observation.Samples         samples   Peng §3.2, Qiao (2)
//	T_iter           Observation.Seconds         seconds   Qiao (11)
//	f(p, w)          M / Curve.StepTime          per s     Peng (3)
//	theta_0..4       Curve.Params of Optimus     seconds   Peng (3)
//	alpha, beta      Curve.Params of Pollux      seconds   Qiao (8), (10)
//	gamma            the last of them            -         Qiao (11)
//
// # Models
//
// With m = M / w samples a container, w containers on p servers:
//
//	Linear    T = t0 m
//	Amdahl    T = t0 m + t1
//	Optimus   T = t0 m + t1 + t2 w/p + t3 w + t4 p
//	Pollux    T = (G^gamma + S^gamma)^(1/gamma),  G = t0 + t1 m,
//	          S = 0 for w = 1, t2 + t3 (w-2) on one server, t4 + t5 (w-2) on several
//	Table     the measured rates, rising, with straight lines in between
//
// All parameters are at least 0. Auto takes the one that predicts best what was left out.
//
// # Contract
//
// The same observations in any order give the same curve. Nothing is extrapolated for ever: a curve promises no more beyond
// Curve.Most containers than it does there, which is the request of the user, or twice the most that was
// measured where that is more, [Qiao21 §4.1]. Speeds never fall with more containers, although a measurement may.
//
// # Deviations
//
//   - Optimus counts parameter servers; here each server of the job has one.
//   - Pollux fits by the root mean squared error of logarithms. Here large residuals count by their size and not by their square,
//     so that single wrong measurements do not carry the fit; the same holds for the other models.
//   - Where no step on several servers was seen, Pollux assumes that none costs more; here that holds too: it costs what
//     it does on one.
package speedup
