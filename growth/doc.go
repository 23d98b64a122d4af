// Package growth tells from a training job's own evaluation function whether it still profits from
// resources, and what follows from that: FlowCon's limits on one worker, and SpeCon's categories
// and requests across a cluster.
//
// # What it computes
//
// A [Series] holds the readings of one job. A [Classifier] judges it: [Threshold] and [Decline] are
// the thesis' tests, [Prospect] is ours and robust to noise. [FlowCon] and [SpeCon] are state
// machines around them that take all containers at a time and say what to change; both accept any
// classifier. [Optimize] solves the problem that FlowCon approximates. Package placement chooses
// hosts for the containers that SpeCon asks about.
//
// # Notation
//
//	symbol         Go name                     unit                              where
//	E_c(t)         Reading.Value               the job's own                     Zheng §4.1.3
//	P_c(t_i)       Progress                    of E per second                   Zheng (4.1)
//	R_c,r(t_i)     Reading.Usage               share of the worker               Zheng (4.2)
//	G_c,r(t_i)     Efficiency                  of E per second and unit of usage Zheng (4.2)
//	G_w,c(t_m)     Series.Gain                 of E per interval                 Zheng (5.1)
//	alpha          Alpha                       as G                              Zheng §5.1.2, Table 5.1
//	beta           FlowConOptions.Beta         -                                 Zheng Algorithm 1, line 22
//	itval          FlowConConfig.Interval      time                              Zheng Algorithm 1
//	t_m - t_(m-1)  SpeConConfig.Interval       time                              Zheng Table 5.1
//	NL, PC         Progressing                 -                                 Zheng §5.1.2, §5.2.1
//	WL, WC         Watching                    -                                 Zheng §5.1.2, §5.2.1
//	CL, CC         Converged                   -                                 Zheng §5.1.2, §5.2.1
//	L_c,r          Limit.Value                 share of the worker               Zheng Algorithm 1
//	r_i, R_max     Optimum.Grants, capacity    the kind's own                    Zheng (4.3)
//
// # Contract
//
// Time is an input: a duration since any origin that all calls share. State machines change only
// in Step, and a Step that returns an error changes nothing. Inputs are read and not kept, except
// strings. The same inputs give the same results whatever the order in which containers are listed.
// A Step over an unchanged set of containers allocates nothing.
//
// The rule for readings is on [Outcome]: a missing or late one changes nothing, one whose usage is no
// number is dropped, a repeated value and a value that is not finite close an interval without
// gain. A value that is not finite is slow under every classifier.
//
// # Deviations
//
// Where the listings of the thesis cannot be meant as printed, or leave a choice:
//
//   - Algorithm 1, line 17 doubles itval inside a loop over containers and resources; here once a
//     run. Only a run that was due doubles: a listener's run leaves the initial interval, otherwise
//     an exit from a converged worker would be followed by a longer interval than its first.
//   - Line 22 bounds by |c_id|, the number of containers, with a beta that is never printed. The
//     example of 0.25 for one of two containers gives beta = 2 with all containers of the worker.
//     The bound holds for growing containers too, unless BoundConvergedOnly.
//   - A container without a measured growth is as good as infinitely efficient: its limit is 1,
//     converged ones get the lower bound, measured growing ones keep what they have. This is what
//     the example shows at an arrival. A container that never reports keeps it so.
//   - Lists move by the growth efficiency of one kind (Steering), limits are shares of each kind's
//     own: the listing writes G with and without the resource.
//   - alpha is a percentage of nothing: see [Normalization]. LargestGrowth is the reading under which
//     the thesis' values, 1 % to 15 %, tell jobs apart as its text says; under FirstValue, the
//     default, jobs are slow within a few readings for any of them.
//   - A sum of zero makes every share zero; usage below UsageFloor counts as that where there was
//     progress.
//   - Algorithm 2 compares numbers of containers, which misses an arrival beside an exit; here sets
//     are compared, and Algorithm 1 runs once, after all arrivals and exits.
//   - Algorithm 3, lines 10-12 move WC to WC; the text says to CC. Lines 7, 10 and 13 are a chain:
//     see SpeConOptions.Separate. A gain of exactly alpha, which no line covers, counts as growing.
//     |PC| + |WC| in line 15 is taken after all containers of the check are categorized.
//   - A request is made at the check after a container entered CC, as listed; the example of §6.2.3
//     asks at entry: see SpeConOptions.AtEntry.
//   - (4.3) prints "s.t. sum r_i R_max" without a relation, and an objective without the variable;
//     [Optimize] takes sum r_i <= R_max and growth in proportion to what is granted.
//
// # References
//
//	[Zheng] W. Zheng. Efficient Resource Management for Deep Learning Applications with Virtual
//	        Containers. Master's thesis.
//	        FlowCon: W. Zheng, M. Tynes, H. Gorelick, Y. Mao, L. Cheng, Y. Hou. ICPP 2019.
//	        SpeCon: Y. Mao, Y. Fu, W. Zheng, L. Cheng, Q. Liu, D. Tao. arXiv 2010.11307, 2020.
package growth
