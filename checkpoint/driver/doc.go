// Package driver runs a checkpoint.Machine: it steps it, makes its records durable, carries its effects out on
// agents and the store, and asks the agents how their jobs stand.
//
// # What it computes
//
// [Driver.Run] is the loop that package checkpoint leaves to its caller: Step, Append, perform, Reply. It is
// the one goroutine that touches the machine and the journal. Whoever wants something calls
// [Driver.Apply], which returns when the events are durable; events that come together share one record.
// Whoever decides looks at [Driver.State], which holds what is durable and nothing else.
//
// Each effect has a goroutine of its own, and each server one that asks its agent. All of them hand what
// they learn to the loop.
//
// # Who does what
//
//	goroutine            how many                     what it does
//	the loop             one                          steps the machine, appends records, publishes the view
//	an effect            one for each under way       asks its servers or the store, hands the reply to the loop
//	an order             one for each server of it    waits for the server's agent, calls it
//	a watch              one for each server          asks the agent, hands what is news to the loop
//
// The machine has one effect under way for each job at most, so there are no more goroutines than jobs,
// servers, and containers of jobs that are on their way. Calls that were abandoned are beside that, until they
// return.
//
// # Notation
//
//	Apply          an event of the caller, durable when it returns
//	Join           a server and its agent; ServerUp where that is news
//	Silence        how long a server may give no answer; ServerSilent after it: nothing is started there
//	Grace          how long it may give none before its jobs have ended; ServerFenced after it
//	Order, Status  what an agent is told and what it answers, package agent
//
// # Contract
//
// Retries, pauses between them, time-outs of effects and restarts of jobs are the machine's, by
// checkpoint.Config: the driver tells it the time. A call of an agent or of the store is given nine tenths
// of the time-out of its effect. One that does not return by then is left alone and counts as failed, so
// nothing that hangs holds up anything else: a call that comes to an end late does no harm, by the promises
// of checkpoint.Effect and store.Store. An agent that does not answer questions is asked less and less
// often, and is lost after Grace. A journal that hangs ends the driver.
//
// What agents tell becomes events: Finished, when the process of the first container says that the work is
// done; Exited, when any process has failed, or when an agent does not know of an attempt that runs on its
// server. Each is told again with every answer until the machine has heard of it.
//
// A job is saved by the process of its first container: a Save goes to that container's server only.
//
// # Why no server is lost too early
//
// Every answer of an agent carries its clock, and the driver hands the newest one back with the next question
// or order. The agent's lease counts from what was handed back, so it ends at the latest one lease after an
// answer that has arrived here. The grace counts from the arrival of the newest answer. Where the grace is
// longer than the lease, by what the clocks drift apart in that time and what ending jobs takes, the jobs of a
// server have ended before ServerFenced is said. From then on nothing is sent to it any more: it is back when it
// joins again.
//
// # Why a driver that begins does not begin at once
//
// A journal that has lost its end does not know what runs, and the server that would contradict may be silent. So no Create and
// no Resume is sent before every server on record has answered, or its grace is over, and every other that has called by then. The
// machine is told no time meanwhile. A restart at which all answer takes as long as their answers; a driver without servers on
// record waits for nobody.
//
// # Servers that answer and can do nothing
//
// A server whose disk is full, or that cannot start processes any more, answers, and so is never lost. With
// Options.CordonAfter it is cordoned when too many effects have failed there in a row, with the last of them as the reason,
// and tried again later. It is never given up for that: what runs there may run well, and what cannot be ended there lives.
//
// # Why no checkpoint of another store counts
//
// The driver asks the store which it is, and that is on record. Every effect names it, and whoever reads or writes a checkpoint
// looks first: a store that is not mounted, and another one in its place, are failures, and say nothing of checkpoints. A
// driver that is started on another store than that on record ends. While an attempt is created the store is fenced for it,
// so that what an attempt before it is still writing never becomes visible.
//
// # What is thrown away
//
// With Options.Retain the driver deletes the checkpoints of a job some time after it has ended, and forgets it. What agents
// remember of jobs that are on no record is told to them as such, and goes; so do copies of checkpoints, of which a server
// keeps one for each job.
//
// # Ends
//
// When Run ends, jobs run on. The next driver finds them: it opens the journal, the agents join, and
// effects that were under way are begun again, when their agents are there.
package driver
