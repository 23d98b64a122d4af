// Package workerlog tells from what the workers of a job have written themselves whether the job ever ran twice, and
// whether it lost what was confirmed.
//
// # What it computes
//
// Whoever runs jobs believes what it sees of them, and so does its own test. A worker knows better: it was there. So every
// worker writes a line when it begins, after each step, after each checkpoint and at its end, with the time, into a log of
// its own; [Check] reads the logs of all workers of all attempts, wherever they ran, and says what cannot be.
//
// # Notation
//
// A log is text, a JSON object a line. What is no line of a worker is passed over, so it may be a worker's output as
// well. Lines with "step" are readings of package command at the same time.
//
//	member    what it holds
//	worker    which line it is: "start", "step", "saved" or "end"
//	job       the job's name, APPORTION_JOB
//	attempt   the number of the run, APPORTION_ATTEMPT
//	rank      the number of the worker in the run, from 0, APPORTION_RANK
//	server    where it runs, APPORTION_SERVER
//	life      what no other process has: its server, number and time of beginning
//	step      how many steps were done, over all attempts; of a start: with how many it begins, -1: it does not know
//	at        the time in nanoseconds since 1970
//
// For instance:
//
//	{"worker":"start","job":"lr","attempt":2,"rank":0,"server":"north","life":"north-4711-17","step":40,"at":1763836000000000000}
//	{"worker":"step","job":"lr","attempt":2,"rank":0,"server":"north","life":"north-4711-17","step":41,"at":1763836000100000000}
//
// A line is written by one call of write(2), before the next step begins; it need not be synced. [Writer] does so in Go,
// the file workerlog.py beside this one in Python, with its standard library alone.
//
// # Contract
//
// The faults that Check finds:
//
//	twice     a worker began while another process of its job, of an earlier attempt or of its own place, still wrote
//	resume    an attempt began at a step that was never saved, or behind what was confirmed, or behind what an earlier
//	          attempt had begun with
//	lost      a worker left out steps, or did steps again that it had done
//	form      a worker wrote before it began, or after its end
//
// A process that is dead by signal 9 has written all lines up to its death. The other way round a worker that hangs for
// ever is not seen: it writes nothing, and does nothing either.
//
// Times on several servers are those of their clocks; [Options.Slack] is how far these may be apart. On one server nothing
// is forgiven, so its clock should not be set back while a test runs.
package workerlog
