// Package schedule finds the best schedule of one job when it is known what work costs in every slot: how
// many units of work to do in each slot so that the utility at the completion, less the cost of all slots, is
// greatest.
//
// It knows no servers, prices or demands. A [Source] gives one table a slot, C_t(y) for y = 0, 1, ...
// units; a unit is a worker for one slot, the training of one chunk, or a quantum of progress, as the source
// likes.
//
// # Notation
//
//	symbol	Go name	unit	where
//	W_i	Problem.Work	units	(2)
//	f_i	Problem.Values	utility	(1)
//	C_t(y)	Tables	utility	Algorithm 2, lines 23-46
//	z(y)	Problem.Servers	containers	(6), (7)
//	lambda	multipliers.lambda	utility a unit	multiplier of (2)
//	nu	multipliers.nu	utility a server	multiplier of (6)
//
// # Contract
//
// Every C_t starts at 0 and never falls; nothing else is assumed, convexity least of all. Values never
// increase. Payoffs within 1e-10 of the best value count as equal, and of equal ones the earliest
// completion is taken. The same tables give the same answer. Both methods are exact: bounds first is the
// fast one, the plain dynamic program is there for comparison and where bounds leave too much open.
package schedule
