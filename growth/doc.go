// Package growth tells from a training job's own evaluation function whether it still profits from
// resources. Package flowcon and package specon, in folders of this one, draw the conclusions: limits
// on one worker, and moves across a cluster.
//
// # What it computes
//
// A [Series] holds the readings of one job: the newest interval, which the thesis' tests [Threshold]
// and [Decline] compare, and a thinned history of every reading, of which [Evidence] is made that [Prospect], a
// [Classifier] of ours, judges. A [Track] collects readings between two checks. A verdict moves the job
// one step between the categories; "unsure" leaves it where it is.
//
// # The evidence
//
// A history is at most 31 averages, each of as many readings. Eight signs are taken of it: the logarithms of the shares of all
// improvement that the last half and three quarters of the work and the newest points have gained, of the noise, of the time since the best
// rose, and of the number of readings, the square of that of the distance from the best, and noise times newest points; each is averaged over
// the last fifth of the run. A logistic function of them is the chance that more than a given share is still ahead, [Evidence.Chance]. Its weights are constants,
// which flowcon/judge of the studies fits to recorded runs and small trainings. A reading that leaps away counts once
// two more confirm it; a leap for the worse begins the history anew.
//
// # Notation
//
//	symbol         Go name                 unit                              where
//	E_c(t)         Series.Add              the job's own                     Zheng §4.1.3
//	P_c(t_i)       Progress                of E per second                   Zheng (4.1)
//	R_c,r(t_i)     Usage                   share of the worker               Zheng (4.2)
//	G_c,r(t_i)     Efficiency              of E per second and unit of usage Zheng (4.2)
//	G_w,c(t_m)     Series.Gain             of E per interval                 Zheng (5.1)
//	alpha          Threshold.Alpha         as G                              Zheng §5.1.2, Table 5.1
//	-              Evidence.Ahead          share of all improvement          no paper
//	NL, PC         Progressing             -                                 Zheng §5.1.2, §5.2.1
//	WL, WC         Watching                -                                 Zheng §5.1.2, §5.2.1
//	CL, CC         Converged               -                                 Zheng §5.1.2, §5.2.1
//
// # Contract
//
// Time is an input: a duration since any origin that all calls share. The rule for readings is on
// [Outcome]: a missing or late one changes nothing, one whose usage is no number is dropped, a
// repeated value and a value that is not finite close an interval without gain, and an interval in
// which the job was idle proves nothing. A value that is not finite is slow under every classifier.
//
// No zero stands for something else: a usage that nobody measured is the zero [Usage], and Used(0)
// is that of a job that was given nothing.
//
// # Deviations
//
//   - alpha is a percentage of nothing: see [Normalization]. LargestGrowth is the reading under which
//     the thesis' values, 1 % to 15 %, tell jobs apart as its text says; under FirstValue, the
//     default, jobs are slow within a few readings for any of them.
//   - The thesis does not say what a container proves that got no CPU. Here nothing: see [Idle].
//   - (4.1) and (5.1) take sizes of changes, so a loss that rises grows. A series may be told its
//     [Direction]; Prospect follows it, the thesis' tests do not.
//   - Prospect, and all that it needs, is not in the thesis.
package growth
