// Package specon implements SpeCon: which jobs of a cluster grow slowly, and on which workers they
// should run.
//
// # What it computes
//
// A [Monitor] is the container monitor: it keeps the jobs of one worker or of a whole cluster in the
// sets PC, WC and CC, and lists those that ask for another host. A [Manager] is the whole of SpeCon for
// a cluster: it is told of events and readings, places jobs, answers requests by Algorithm 4 and
// evens out what has converged by Algorithm 5. The simulator, the command and
// the live example use the same one.
//
// # When it is worth it
//
// Where jobs are placed without regard to how many a worker has. In the study of specon a random placement leaves the mean completion
// time 12 % to 28 % to gain and the makespan 20 % to 29 %; where each job goes to the worker with the fewest, at most 3 % and 10 %
// are left. So place by the fewest first, and add SpeCon where somebody else places.
//
// # Notation
//
//	symbol         Go name                 unit                              where
//	G_w,c(t_m)     Request.Gain            of E per interval                 Zheng (5.1)
//	alpha          Config.Alpha            as G                              Zheng Table 5.1
//	t_m - t_(m-1)  Config.Interval         time                              Zheng Table 5.1
//	PC, WC, CC     growth.Category, Counts -                                 Zheng §5.2.1
//	migrated       Job.Decided             -                                 Zheng Algorithm 3
//	t_c            Job.Since               time                              Zheng Algorithm 5
//	R(w, t)        Load.Usage              share of the worker               Zheng Algorithm 4
//	S_w            Load.Score              1/placement.ScoreUnit             Zheng Algorithm 4
//	rebalanced     Job.Rebalanced          -                                 Zheng Algorithm 5
//
// # Contract
//
// Time is an input: a duration since any origin that all calls share. A Step or Tick that returns an
// error changes nothing. Inputs are read and not kept, except strings. The same inputs give the same
// results whatever the order in which jobs are listed. A Step of a Monitor over an unchanged set of
// jobs allocates nothing.
//
// A Manager performs nothing: it says who is to run where, and events say what has come of it. It
// counts a job as being where it was last ordered, so a scheduler that is slow, or dies, is no
// danger; a Runs event corrects it. [Manager.State] is a value that [Restore] makes the same Manager
// from, after JSON as well.
//
// What the thesis calls a container is a job here: one training run, in one container.
//
// # Deviations
//
//   - Algorithm 3, lines 10-12 move WC to WC; the text says to CC. Lines 7, 10 and 13 are a chain:
//     see Options.Separate. A gain of exactly alpha, which no line covers, counts as growing.
//     |PC| + |WC| in line 15 is taken after all jobs of the check are categorized.
//   - A request is made at the check after a job entered CC, as listed; the example of §6.2.3 asks
//     at entry: see Options.AtEntry.
//   - The thesis decides all requests of a check and a whole plan at once. So does a Manager, unless
//     OneAtATime: a cluster that saves and restores jobs through one store, and has room for what
//     leaves only after it has left, moves one after the other. A request that must wait is not kept:
//     the job asks again at its next slow check. A plan is kept until a job or worker comes, goes or
//     changes, or a job grows again; then it is made anew.
//   - Algorithm 5 waits until all containers are migrated. A Manager waits until all have converged,
//     as §6.2.3 tells: the job that converges last on its worker never asks for another host, so the
//     listing's condition would hardly ever be true.
//   - A job that the classifier is unsure of stays in its category, counts there in every score, and asks for
//     nothing. One that reports nothing for Options.Silence goes down the categories, and asks for nothing
//     either: nobody knows whether it runs.
//   - A job that stays only because workers with a smaller score have no room is not marked, so that
//     it may ask again; the thesis ignores room.
package specon
