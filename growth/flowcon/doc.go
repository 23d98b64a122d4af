// Package flowcon implements FlowCon: limits for the jobs that share one worker, by how much each
// still grows for what it uses.
//
// # What it computes
//
// An [Executor] is FlowCon on one worker: it takes the jobs that run there with their newest
// readings, keeps them in the lists NL, WL and CL, and says which limits change.
//
// # Notation
//
//	symbol         Go name                 unit                              where
//	beta           Options.Beta            -                                 Zheng Algorithm 1, line 22
//	alpha          Config.Alpha            as G                              Zheng §5.1.2
//	itval          Config.Interval         time                              Zheng Algorithm 1
//	G_c,r(t_i)     Standing.Growth         of E per second and unit of usage Zheng (4.2)
//	NL, WL, CL     growth.Category         -                                 Zheng §5.1.2
//	L_c,r          Limit.Value             share of the worker               Zheng Algorithm 1
//
// # Contract
//
// Time is an input: a duration since any origin that all calls share. An Executor changes only in
// Step and Note, and one that returns an error changes nothing. Inputs are read and not kept, except
// strings. The same inputs give the same results whatever the order in which jobs are listed. A
// Step over an unchanged set of jobs allocates nothing.
//
// What the thesis calls a container is a job here: one training run, in one container.
//
// # Deviations
//
// Where the listings of the thesis cannot be meant as printed, or leave a choice:
//
//   - Algorithm 1, line 17 doubles itval inside a loop over containers and resources; here once a
//     run. Only a run that was due doubles: a listener's run leaves the initial interval, otherwise
//     an exit from a converged worker would be followed by a longer interval than its first.
//   - The listing never shortens a doubled itval while the same containers run. Here a run that
//     finds a job growing again goes back to the initial interval: what it gains meanwhile would
//     otherwise be seen, and shared, only once in the longest interval.
//   - Line 22 bounds by |c_id|, the number of containers, with a beta that is never printed. The
//     example of 0.25 for one of two containers gives beta = 2 with all containers of the worker.
//     The bound holds for growing jobs too, unless BoundConvergedOnly.
//   - A job without a measured growth is as good as infinitely efficient: its limit is 1, converged
//     ones get the lower bound, measured growing ones keep what they have. This is what the example
//     shows at an arrival.
//   - Lists move by the growth efficiency of one kind (Steering), limits are shares of each kind's
//     own: the listing writes G with and without the resource.
//   - A published program of the authors takes the growth of a job that is not measured yet, or was not
//     since the run before, for 0. Options.UnmeasuredIsZero and MissingIsZero do so; BoundOneMore bounds by
//     1/(n+1). None is the default: they make a job slow of which nobody knows anything.
//   - A sum of zero makes every share zero; usage below growth.UsageFloor counts as that where there
//     was progress, and as idleness, which proves nothing, where there was none.
//   - Algorithm 2 compares numbers of containers, which misses an arrival beside an exit; here sets
//     are compared, and Algorithm 1 runs once, after all arrivals and exits.
//   - A job that reports nothing for Options.Silence is slow, has no growth, and keeps nobody waiting. In
//     the listing it freezes all growing jobs of its worker where it never reported, and keeps its share
//     for ever where it did.
//   - With a classifier that is a [growth.Rater], as Prospect is, limits are shares of the signed pace
//     over means of readings, not of the size of the newest difference, which for a converged job is its noise.
//   - With such a classifier no limit is kept: jobs that are watched, and those that grow while a newcomer is not
//     measured, have their shares among all that are measured. The listing keeps both, and where jobs come more
//     often than an interval passes a limit of 1 then stands for as long as they come. Converged jobs yield to a
//     newcomer as listed.
//   - (4.3), of which the listings are an approximation, prints "s.t. sum r_i R_max" without a relation,
//     and an objective without the variable. Read as growth in proportion to what is granted it gives
//     all to one job, which in the simulator did no better than shares and is left out.
package flowcon
