// Package checkpoint moves running training jobs from one set of containers to another without losing
// their work: the checkpoint-based resource adjustment of [Dorm §III-C2], made safe against the death
// of anything at any moment.
//
// # What it computes
//
// [Machine] is told what is wanted and what happens (an [Event] each) and says what to do (an [Effect]
// each). After any adjustment a job runs on its new containers, or on its old ones, or, where it can
// have neither, is suspended with its newest confirmed checkpoint; Job.Reason says why. It never runs
// twice, and what was confirmed is never lost.
//
// Package journal keeps the machine's records on a disk, etcdjournal in etcd, and [Recover] makes a machine of them. Packages
// store and runner declare the contracts of those who keep checkpoints and who run jobs; store/files,
// blobstore and command implement them. Package driver is the caller's part, the loop around a machine; agent
// is the servers' part, which keeps the promises of [Effect]; bridge carries decisions of alloc over.
//
// # Notation
//
//	paper                Go name             where
//	save its state       Save, Verify        Phase Saving, Verifying
//	kill                 Stop                Phase Stopping
//	destroy containers   Release             Phase Releasing
//	create containers    Create              Phase Waiting, Creating
//	start, resume        Resume, Confirm     Phase Resuming, Confirming
//	reliable storage     store.Store         number Checkpoint
//
// # The protocol
//
// Each phase waits for one thing. A failed effect is first tried again, Config.Retries times.
//
//	phase       waits for     then                          if it fails for good
//	Idle        an Adjust     Waiting
//	Waiting     room          Creating, as a new attempt    back to what it had, or Idle
//	Creating    Create        Resuming                      Stopping, then what it had, or Idle
//	Resuming    Resume        Confirming                    the same
//	Confirming  Confirm       Running                       the same
//	Running     an Adjust     Saving
//	Saving      Save          Verifying                     Running, as before
//	Verifying   Verify        Stopping, or Running          Running, as before
//	Stopping    Stop          Releasing                     never: it is tried until it succeeds
//	Releasing   Release       Waiting, Idle or Ended        never
//	Ended       a Forget
//
// A server that does not answer is silent until it answers again (ServerUp) or is known to run nothing any more
// (ServerFenced). In which phase that meets a job of it says what follows:
//
//	phase                  silent                                   fenced
//	Idle, Ended            nothing                                  nothing
//	Waiting                waits on, up to Timeouts.Room            waits with what is left of its target, or goes back
//	Creating to Confirming waits on, whatever fails meanwhile       Stopping, then what is left of its target
//	Running                runs on; what is asked of it waits       the same
//	Saving, Verifying      as any failure: Running, as before       the same; what is being verified may yet count
//	Stopping, Releasing    waits on                                 goes on with what is left
//
// Nothing begins on a silent server, its room is given to nobody, and no attempt follows on one that may live there.
//
// Besides: a job of which a process dies, or a server is lost, goes from any phase in which it runs to
// Stopping, and from there to what is left of its target. A job that finishes or is cancelled goes to
// Stopping and to Ended. What cannot fail for good is over, too, when its servers are lost.
//
// An adjustment may have a deadline, as a server has one that is drained because it will be taken away. A job that is not
// saved by then goes from Running, Saving or Verifying to Stopping, and goes on from its newest confirmed checkpoint. So
// does a job that is known to hang. One that dies again and again without a confirmed checkpoint in between waits longer
// and longer before its next attempt.
//
// Nothing more is placed on a server that is cordoned, and what is there stays: a driver does that where effects fail again
// and again at a server that answers.
//
// Of several jobs, those that only give up containers begin first; a job that needs room begins when it
// is there and keeps it reserved; where jobs wait for each other in a circle, the first of them begins
// without. A job that runs waits running.
//
// # Why it is safe
//
// Never twice. Job.Attempt numbers the runs of a job and Job.Stopped is the newest that is known to be
// dead everywhere. A new attempt is only numbered where the two are equal (the machine panics
// otherwise), and Stopped only rises when Stop has been confirmed by every server of the attempt that
// is not lost. After that no message of the attempt can start it again, for these servers refuse it,
// see [Effect]; and no server but these was ever asked to.
//
// Never neither. Every phase leads on, by its effect, by the failure of its effect, or by a time-out,
// and no path leads out of the table. The three ends are Running, Idle and Ended.
//
// Never lost. A checkpoint counts when it was verified and that is on record. Stop is only issued after
// that, in the same Ready as its record, or where there is nothing to save any more. Prune is only
// issued after a newer one counts. Resume takes the newest that counts; one that two readers cannot read, a server and the
// master, is passed over for the one before, but never for a new beginning, and it stays until a newer one counts.
//
// Across crashes. All of that is decided in Step, and is on record before anything is done of it. So
// whoever reads the records knows at least what was done, and does again what may not have been:
// effects are idempotent. Across masters: a record that another master has not read is never acted on,
// see package journal.
//
// Across lost records. A disk may lose what was durable: the end of a journal, or an old copy comes back. Servers keep the
// newest that they have heard as [Witness], and a machine that hears of a number which is on no record ends with ErrBehind.
// Numbers have those of their epoch in front, so none is given out twice. What servers report that no
// record knows is stopped there, see [Orphan].
//
// FAULTS.md lists what was tried against all that, and the tests. RUN.tla specifies the part of it that leases and late messages have, and
// ../internal/world/model searches all its states.
//
// # Contract
//
// A [Machine] is deterministic: equal events in equal order give equal effects. It has no clock: Tick
// tells the time, and a clock that jumps, forward or backward, changes how long it waits and nothing
// else. It is only as safe as the promises of [Effect], [ServerFenced] and store.Store are kept.
//
// What a caller asks may be refused; that is a result, in Job.Reason. Errors are events that make no
// sense, ErrFenced and ErrBehind.
//
// # Deviations
//
//   - The paper saves, kills, creates and destroys, and resumes. Here a checkpoint is read back before
//     the kill, containers are destroyed before others are created in their place, and a resumption
//     must be confirmed before it counts.
//   - Containers of the old allocation that the new one has too are kept.
//   - The paper does not say what happens when a step fails.
//   - Steps done between a save and the stop are done again, as in the paper.
package checkpoint
