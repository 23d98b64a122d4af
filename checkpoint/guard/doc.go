// Package guard keeps the promise that no run outlives its lease with the run itself: a supervisor for each run, parent of
// the trainer's processes, which kills them when nobody vouches for the run any more.
//
// # What it computes
//
// A lease that lives in an agent is worth nothing while the agent is stopped, dead or in a crash loop, and no cluster
// manager's agent ends what it has started when it is cut off. So [Run] stands between: it claims its run with an
// [Authority] before it starts the trainer, below a keeper that waits for that word, renews the lease again and again, passes the
// signal to save on, and has everything killed that the trainer has started when the lease is over or the run was fenced
// off. What it knows last, progress, newest checkpoint and how the trainer ended, stays in a file, see [Record], for
// whoever asks later.
//
// Where an agent starts runs, as package command's Options.Guard has it, [Vouching] is the other side: a run has what is
// left of its agent's lease. Elsewhere [Desk] is: it vouches for runs, on whatever road the claims come. [HTTP] asks a desk
// by HTTP; an [Authority] of one's own may ask a Lease of Kubernetes. A desk also asks for saves, see [Desk.AskSave]: the guard tells its trainer by
// a file and by a signal, and the desk what was acknowledged.
//
// The program apportion-guard is Run with flags, to be put before a trainer's command.
//
// # Notation
//
//	symbol           Go name                where
//	claim            Claim                  which run asks, and its own clock
//	grant            Grant                  how long the lease is, counted from a clock that was claimed
//	attempt, epoch   Claim.Attempt, Epoch   as in package checkpoint
//	fenced           Grant.Fenced           a newer attempt has taken over, or this one was stopped
//
// # Who watches whom
//
//	process   is killed by                                           kills
//	guard     the kernel, a second after its lease, stopped or not    the keeper that is late, and its descendants when it is gone
//	keeper    the kernel, when the guard dies                         all others: lease over, fenced, guard gone, trainer gone
//	trainer   the kernel, when the keeper dies
//
// The guard speaks to the authority and tells the keeper until when the lease goes; the keeper needs no network and no
// disk. So a guard that hangs, is stopped or is dead ends the run as well as a lease that runs out, and a keeper that hangs or is stopped
// is killed by its guard. Where both are stopped, a timer of the kernel's (timer_create(2)) kills the guard.
//
// The keeper is init of a PID namespace, so that its end is that of all that the trainer has started, whatever has left its group, its
// session and its parent: the kernel sees to that, though guard and keeper be killed at once. Root may make one as it is, others in a user
// namespace. Where the system allows neither, and with [Config.HostPID], the two watch each other only: they gather orphans
// (PR_SET_CHILD_SUBREAPER), the timer wakes a stopped guard and the death of the guard a stopped keeper, and the trainer itself dies with
// the keeper (PDEATHSIG). With [Config.Cgroup] the trainer has a control group of its own beside, which cgroup.kill ends at once, or, of
// version 1, which is frozen, killed and thawed, so that nothing in it gets away by starting others. A guard that is init of a container
// makes no namespace, since it has one. Standard error says what holds the run, and [Config.Containment] refuses less.
//
// In the namespace the trainer has other numbers, for itself and in /proc, which is the namespace's own, and it sees and signals its own
// processes only; the rest is the machine's: files, mounts, network, shared memory. Where /proc cannot be mounted anew standard error says
// so. In a user namespace it keeps user and group; files of other users look as nobody's, and programs with a set-user-ID bit, such as
// sudo, give it nothing. What finds its peers on the machine by process numbers, as CUDA's IPC between the processes of several guards,
// needs Config.HostPID.
//
// # Contract
//
// The lease counts from the guard's own clock at the moment when it began to ask: the time since the boot, which no jump
// of the time of day moves and which goes on while the machine sleeps. A desk knows that a run has ended one length after
// it has last answered it, and for as much longer as clocks drift apart in that time and a machine takes to kill:
// [Desk.Over] says so. A desk that is new has not answered yet; it waits for one length from its own beginning.
//
// A run that is fenced off, unknown to the desk, or that nobody vouches for in time is never started. What was started is
// killed with SIGKILL, without a question, as its lease is over; SIGTERM to the guard is passed on, and followed by
// SIGKILL after [Config.Grace].
//
// Linux only; elsewhere Run returns an error that wraps errors.ErrUnsupported. It uses no cgo.
//
// Claims by HTTP are signed, and so are their answers: whoever listens in the place of a desk that is gone learns no secret
// and vouches for nobody. The credential is that of one run, see [Party], and signs for no other. A trainer can read what its guard
// can, unless it runs as a user of its own.
//
// With [Config.User] a guard that is root starts its trainer as that user: with the groups that were named, no others and no way to
// more, so that it can neither end guard and keeper nor read their credential, their record or their environment. The kernel is told
// after the change of user whom the trainer dies with. The folder of [Config.Acknowledgement] must be the user's; the program makes one,
// and leaves HOME and all else of the environment as it is.
//
// # Times
//
//	a sixth of the lease   from one claim to the next, or of what is left of it; Config.Every where that is less
//	a quarter of it        how much longer than that an answer may take, so that several may fail in one lease
//	20 ms                  from one look of the keeper at the clock to the next: how late it sees that the lease is over
//	100 ms                 how late a keeper may be before its guard kills it
//	1 s                    how late both may be before the kernel kills the guard; a desk's slack must be more
//	200 ms                 from one claim to the next before the first grant, for as long as Config.Start
//	50 ms                  from one look for an acknowledgement to the next while a save is under way, else 500 ms
//	500 ms                 how old the record may be, as long as the disk takes it
//	2 s                    for each of the last words: to the authority, to the record, and from the trainer's output, and from one wake-up to the next of a guard that is stopped then
//
// # Exit statuses of the program
//
//	64     the command line or the environment is wrong
//	70     the trainer could not be started
//	75     nobody has vouched for the run in time, before the guard was told to end, or any more
//	77     the run is fenced off
//	137    a signal has ended the trainer, whichever it was
//	else   the trainer's own
//
// # Limits
//
// Without a namespace, if guard and keeper are killed at the same moment, the kernel kills the trainer's first process, and its children
// live on unless the container's PID namespace ends with them. What the kernel cannot kill, a process in an uninterruptible wait, ends
// when it wakes up. A machine that is stopped as a whole, and goes on later, has all its leases over: the processes run for as long as
// the keeper, or the kernel's timer, needs to be scheduled. What a freezer of somebody else's (v1) holds ends when it thaws, and so does
// what the guard's own holds if guard and keeper are both killed in that moment.
package guard
