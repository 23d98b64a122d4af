// Package bridge carries a decision of package alloc out by package checkpoint, and tells alloc what runs now.
// Neither of the two knows the other.
//
// # What it computes
//
// [Submit] makes an application known to a machine. [Targets] turns an allocation into an Adjust: the new
// containers of those applications whose containers change. [Previous] turns jobs into the Previous of the
// next problem, also while jobs are on their way.
//
// # What Previous is while an adjustment is under way
//
// A job that rests has what it holds. A job on its way holds some containers and has others as its goal: its
// Target, or what was asked for after that. Previous says the goal, not what is held, for three reasons. To
// decide for the goal again costs nothing more, and to decide for anything else, also for what the job holds
// now, costs another adjustment; that is what alloc counts against its budget. The machine goes to the goal
// by itself. And the goals come from one allocation, which fits, while what is held halfway between two
// allocations may leave room that is spoken for.
//
// Goals need not fit together, though: a job that could not be moved has gone back to what it had, where
// another one is to go. Then what exists counts before what is wished for. First every job has the containers
// that it holds and will keep. Then, in order, each has the rest of its goal if there is room, or else what it
// holds if there is room, or else what it keeps. Those that have begun, and those at rest, come before those
// that still wait for what was asked, which come in the order in which it was asked. So nothing is counted
// twice, and no server holds more than it can as long as what exists fits.
//
// A job that is ending has no goal: its room is free for others, who wait until it is.
//
// # Notation
//
//	alloc                              checkpoint
//	Application.ID                     Job.Name
//	Allocation[id][server] = count     the server's ID count times in a list, ascending
//	Application.Min                    Submit.Min, at least 1
//	Previous                           Job.Wanted if Job.Order is not 0, else Job.Target
//
// # Contract
//
// The functions are pure. Every job that has not ended must be among the applications of the problem: room of
// others is not known to alloc. A job of the machine that is not in the problem is left as it is.
package bridge
