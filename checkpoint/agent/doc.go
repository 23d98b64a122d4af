// Package agent is the half of checkpoint that runs on servers: which effects a server may carry out, what it
// must remember, and how long jobs run on without a master.
//
// # What it computes
//
// [Fence.Admit] decides about one effect: carry it out, answer that it was done before, or refuse it, and
// why. [Book] makes what the fence says durable. [Lease] says how long an agent may go on without a word of
// its master. These three serve agents of one's own, which run jobs in whatever way their cluster does.
// [Agent] is a ready-made one: it runs jobs by a [runner.Runner], for instance by the processes of package
// command, and keeps their checkpoints in a [store.Store].
//
// # Notation
//
//	symbol          Go name                      where
//	epoch           Fence.Epoch                  the highest of a master that has spoken to the server
//	attempt         Created, Resumed, Stopped    Marks: the highest of each, by job
//	stamp           Stamp, Status.Clock          a time of the agent's clock, which its master hands back
//	lease           Lease.Length, Lease.Left     how long jobs run on after the newest stamp
//	incarnation     Incarnation                  which memory an agent has, and which process it is
//
// # Contract
//
// The agent of a server keeps the promises of [checkpoint.Effect]: package agenttest checks them, for the
// agent here and for those of others. A fence is a value and knows no clock and no disk. What it has admitted
// must be durable before it is done: Book.Admit returns after that. A Stop is the exception, and the end of the
// lease: the processes end first, and what is noted is written after that. So a disk that is full or hangs, a store that
// hangs, and an effect that hangs in either keep no process alive; the Stop is done when the book says so as well.
//
// The lease makes [checkpoint.ServerFenced] true. An agent ends its jobs one Lease after the newest stamp that
// its master has handed back; a stamp is the agent's own time, so no clock of another machine counts. A
// master that has had no answer for longer than that, by as much as clocks may drift apart and ending jobs
// takes, says ServerFenced. Questions and orders that are lost, late or repeated make the lease end earlier,
// never later. An attempt that has ended so has failed; it was not fenced off. What the lease cannot do is to
// end jobs while the agent itself is stopped or dead: the agent that is started next does that first. Jobs whose
// processes run below guards, package guard, end all the same: [Agent.Vouch] gives them no time that the agent has not.
//
// # Deviations
//
// The paper's slaves create and destroy containers when they are told, [Dorm] §III-C2. What comes twice or
// late, masters that are replaced, and servers that hear nothing are ours.
package agent
