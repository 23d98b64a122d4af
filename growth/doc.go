// Package growth tells from a training job's own evaluation function whether it still profits from
// resources. Package flowcon and package specon, in folders of this one, draw the conclusions: limits
// on one worker, and moves across a cluster.
//
// # What it computes
//
// A [Series] holds the readings of one job; a [Track] collects them between two checks. A
// [Classifier] judges a series: [Threshold] and [Decline] are the thesis' tests, [Prospect] is ours
// and robust to noise. A verdict moves the job one step between the categories.
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
//   - Prospect is not in the thesis.
//
// # References
//
//	[Zheng] W. Zheng. Efficient Resource Management for Deep Learning Applications with Virtual
//	        Containers. Master's thesis.
package growth
