// Package command runs training jobs by commands: it starts them, has them save, stops them and tells how
// they stand, as package checkpoint's Framework.
//
// # What it computes
//
// A [Runner] performs the effects of the checkpoint protocol that touch processes. An application
// comes with two commands, [Dorm] §III-C2: one starts it, one resumes it from a checkpoint. The runner
// starts one process for each container on its node, tells it by its environment what it is to run as,
// asks for checkpoints by a file or a signal, believes only files that are there and complete, and ends
// all that a run has started. What it knows is on the disk: it may be killed at any moment, and the next
// one goes on with the processes that it finds.
//
// # Notation
//
// The environment of a process:
//
//	variable                   what it holds
//	APPORTION_JOB              the job's name
//	APPORTION_ATTEMPT          the number of the run, from 1
//	APPORTION_CONTAINERS       the number of containers of the run, on all nodes
//	APPORTION_SERVERS          their servers in the order of ranks, with commas between
//	APPORTION_SERVER           the server of this container
//	APPORTION_RANK             the number of this container, from 0; with Single always 0
//	APPORTION_CHECKPOINT_DIR   the directory for checkpoints of this run
//	APPORTION_RESTORE_DIR      the directory with the checkpoint to resume from; absent: begin anew
//	APPORTION_RESTORE          the checkpoint there as its framework names it; only with a Format
//	APPORTION_SAVE_REQUEST     a file that holds, once a save was asked for, its number and a line end
//	APPORTION_SAVE_ACK         a file into which the job writes an [Acknowledgement]; in its folder it may write others
//	APPORTION_RUN_DIR          the runner's folder of the run; it marks the processes of the run
//
// The line in which a job reports, anywhere in its output, see [ParseLine]:
//
//	{"step": 120, "value": 0.25}
//	{"step": 500, "value": 0.11, "done": true}
//
// What is on the disk, for whoever looks what has become of a job. JOB is [store.FolderOf] of its name:
//
//	Work/JOB/lock           locked by the method that changes something of the job
//	Work/JOB/run-N          the folder of attempt N; the highest is the one that refuses all others
//	    held                open and locked in every process of the run, from its beginning to its end
//	    started             the run, its ranks on this node, and the step that it began with: all of them were started
//	    stopped             the run was stopped, and is never started again
//	    over                nothing of the run is alive
//	    save-request        the number of the newest request
//	    own/                the one folder here into which processes of the run may write
//	    own/save-ack        the newest acknowledgement
//	    rank-R.json         the process of rank R: its number, its start, and the boot of the machine
//	    rank-R.exit         how it has ended, if the runner that had started it was there to see that
//	    rank-R.log          what it prints
//	    rank-R.guard        what its guard knows last, with Options.Guard
//
// # Contract
//
// Attempts: Resume and Stop take note of the attempt that they are called for, durably, and from then on
// every method refuses older ones with checkpoint.ErrFenced, also after a restart. Both end all earlier
// runs of the job on this node, Resume before it starts anything, so two attempts never run on one node. A
// run is started once: of one that was started, whatever has become of it, Resume starts nothing, and of
// one that was stopped Resume and Save return [ErrStopped]. A run that was only half-started, which
// nobody can have saved, is ended and started anew. All this rests on the folder: a runner that is
// given an empty one knows nothing of earlier attempts. Stop ends what it sees of the run before it asks the folder
// or waits for anybody, so a disk that hangs or is full keeps nothing alive but what only the folder tells of.
//
// Saving: a request is a number, higher than the one before. The job looks at the request file between two
// steps, writes its checkpoint, and then the acknowledgement with that number. A job without the
// acknowledgement, which only hears the signal or writes checkpoints by itself, needs a Format; what
// then counts is a complete checkpoint that was not there before, which a job that saves by itself
// may have begun before the request. A signal reaches the processes of all ranks; requests and
// acknowledgement are one for the job, answered by the rank that saves.
//
// The files of a checkpoint are copied into the store, unless the job gives them away, see [Acknowledgement]: a store on the same
// disk then takes the files themselves, and they are gone from APPORTION_CHECKPOINT_DIR when they are saved. Where
// the file system has reflinks, nothing needs to be given away.
//
// Processes: each process that is started leads a process group. Those of a run are found again by a
// mark in the environment that they were started with, by the group of a leader that is alive, by
// their parents, and by a locked file, descriptor 3, that all inherit; numbers of processes are
// compared together with the time of their start. Only a process escapes that has thrown away the
// environment, closed descriptor 3, left the group, and whose parent has ended before anyone looked;
// or that belongs to another user than the runner, which is not root. Limits of such processes are for
// control groups. Processes outlive the runner; whoever wants them dead stops them.
//
// Guards: with Options.Guard each process is the child of a guard, which ends it when nobody vouches for the run in time:
// the agent is dead, stopped or cannot read its book. Where the system allows it all that the process starts is in a PID namespace, from
// which nothing escapes. Stop ends guards as all else, and how a process ended is known
// also when no runner ran.
//
// Users: with Options.User the processes of a job run as a user of their own, which needs a runner that is root. They have that user's
// numbers, the groups that were named and no others, and no program gives them more (PR_SET_NO_NEW_PRIVS). Theirs are the directory for
// checkpoints, the copy of the one that they begin from, and the folder of the acknowledgement, which is their HOME unless Env says
// another; the runner's folders can be passed and not listed, and its records not be read. All folders above Work, Dir and Restore must
// let users pass (o+x), and what is beside them, books, stores, credentials and sockets, is closed by its own mode: 0600 and 0700,
// as this library makes it. Jobs of one user can disturb each other, so each wants its own; where several servers share a file system
// it has the same numbers on all. A checkpoint with a file of another user is none; that no job gets such a file by a name of its
// own is the kernel's, where fs.protected_hardlinks is 1.
//
// Output goes to a file for each process. Where the file system can punch holes (ext4, XFS, Btrfs, tmpfs),
// a log that outgrows its bound keeps its newest half and its apparent length, elsewhere it begins
// again at zero. The bound is kept while a runner runs on the folder, and exceeded by what is written
// in a tenth of a second.
//
// Methods are safe for concurrent use, also by several runners on one folder. They return promptly when
// their context ends; Resume then first ends what it has started. Linux only: elsewhere the package
// builds, and New returns an error that wraps errors.ErrUnsupported.
//
// # Deviations
//
// The paper's pair of scripts takes no arguments and says nothing about how a job is asked to save, how
// anyone knows that it has, and what becomes of late processes; all of that is ours.
package command
