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
// # Notation
//
//	Apply          an event of the caller, durable when it returns
//	Join           a server and its agent; ServerUp where that is news
//	Grace          how long a server may be silent; ServerLost after it
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
// When Run ends, jobs run on. The next driver finds them: it opens the journal, the agents join, and
// effects that were under way are begun again, when their agents are there.
package driver
