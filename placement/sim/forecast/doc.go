// Package forecast says when waiting jobs start and end: quantiles of replays of the real decisions, each with other lengths of jobs.
//
// # What it computes
//
// [New] takes a problem of package alloc with what runs, and plays it on in package sim, by default 32 times: the policy is
// alloc.Reallocate through an alloc.Decider ([Decisions]), or any policy of package sim. In each replay the jobs have lengths that are drawn from
// what is known of them, and jobs like those of the past arrive. What a job starts at in nine replays of ten is its P90.
//
// What is known of a job's length, the first of these that is there:
//
//   - Known.Left, lengths that are equally likely, from a model of its progress;
//   - a [History] of runs that have ended, and alloc.Application.Ends as its walltime limit;
//   - Ends alone: it runs to its limit, as schedulers take it;
//   - nothing: it runs beyond the horizon, and is listed in Forecast.Unknown. Where nothing is known of any job there are no numbers,
//     and a reason.
//
// A length of a [History] is a part of the limit that a run of the same user and queue has used, given that the job has run as long as it has. Where
// a user has few runs those of the queue count, and of all: a group of n runs has the weight n / (n + Strength) of what is left by
// the groups before it. In one replay the jobs of one user and queue share the draw, since jobs that were submitted together are alike.
//
// # Notation
//
//	symbol	Go name	unit	where
//	t, T	Run.Length, Run.Limit	seconds	[Tsafrir07 §3]
//	S(t)	level.weight	probability	[Kaplan58]
//	k	Shrinkage.Strength	runs	-
//	q	Quantiles	seconds from now	-
//
// # Contract
//
// Nothing reads a clock or draws global numbers: the same problem, knowledge and seed give the same forecast. Inputs are read and not
// retained. Times are seconds, and Application.Ends are in seconds here. What is wrong with the input is apportion.Faults.
//
// # Cost
//
// That of the decisions. A replay decides when a job arrives or ends and anything may come of it; the first decision is the same in all replays, and
// taken once. Options.Decisions bounds them: between two of them what is free is filled in the order of submission, by best fit.
// BenchmarkForecast has both beside each other, and the README of examples/studies/forecast what they took.
//
// # Limits
//
// A forecast is as good as the lengths of the past are for the future: a user who begins with something new is not foreseen, nor are
// failures of servers, drains that are yet to come, or a scheduler that does not do what the replays do. An application with Options stays with the option
// that it uses or would rather have. Fills between bounded decisions know of no queues' shares, and leave alone jobs that may not be anywhere, and
// clusters with ceilings. examples/studies/forecast judges all of it on traces.
//
// # References
//
// [Smith99], [Tsafrir07], [Nurmi07] and [Kaplan58] of the root package's list.
package forecast
