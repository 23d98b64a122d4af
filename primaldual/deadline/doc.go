// Package deadline decides in each slot which jobs with deadlines run, each on how many workers, and which of them are
// promised their end. It knows nothing of the jobs to come and needs no prices.
//
// # What it computes
//
//   - [Scheduler.Offer] takes a job, [Scheduler.Run] decides the slot that begins, [Scheduler.Advance] ends it.
//   - A set of jobs can end in time if and only if for every D the work that cannot wait longer than D slots fits into D
//     slots: [demand].
//   - Jobs are planned in the order of their [Scheduler.index]: value for each unit of work left, or, where value falls in
//     several steps, the apparent tardiness cost [Vepsalainen87].
//   - A slot runs what must be done now, then the planned jobs by deadline, then what else may still end in time.
//   - [Options].Promise sets when a job is promised a deadline: never, when it starts, or when it is offered.
//     [Scheduler.SetCapacity] names every promise that a failure breaks.
//
// # Notation
//
//	symbol	Go name	unit	where
//	C	pool.capacity	units a slot	demand.go
//	L	Work	worker-slots, times pool.unit units	job.go
//	w	Width	workers	job.go
//	d	Deadline.By	slot	job.go
//	D	index of demand.free	slots from now	demand.go
//	v_k, d_k	Deadlines	value, slot	job.go
//	s	Scheduler.scale	slots	choice.go
//
// # Contract
//
// The unit is what one worker takes of the single kind; with several kinds it is a worker's dominant share, in parts of the
// least common multiple of the capacities (of 2^30 where that is greater, rounded up). Capacity is thus never exceeded in any kind.
// Where workers of different size meet, a slot may end with up to the largest less the greatest common divisor of the
// sizes unused; promises are made out of the rest. Given the widths that Run decides, without a lost slot or a failure, no
// promise is broken: rounding up what must be done now takes no more than that reserve, and the test holds again in the
// next slot.
//
// Capacity is a total. A caller with servers places the workers that Run gives; what packing costs comes back to
// Advance as work that was not done. Inputs are read and not kept, outputs are the caller's. Equal index: the job
// that was offered first.
package deadline
