// Package agenttest tests agents: [Run] holds an agent of one's own to every promise that
// [checkpoint.Effect] asks of servers, and [Server] is an agent in memory on which a scheduler can be
// tested and tried out.
//
// # Contract
//
// Run needs nothing of an agent but its answers and a look at what it has: a [Subject] says which
// processes of a job live and how often they were started. What an agent cannot be made to do, for
// instance to lose its memory, is left out of the Subject, and the checks that need it are skipped.
//
// The suite is tested by agents that are wrong in one way each: every step of every check that can see something alone has one
// that it sees, in words that the test knows.
//
// A Server keeps its promises as the ready-made agent does, by an [agent.Fence]. Its processes are
// counters. It does nothing by itself: a test says when steps are done, when processes die, and what
// every order comes upon on its way.
//
// # What a failed check means
//
// In a cluster of agents that fail one, sooner or later:
//
//	Adjustment                    no job can be resized
//	LowerEpoch                    a master that was replaced, and does not know it yet, stops and starts jobs beside its successor
//	EpochOfAllJobs                the same, with jobs that are new to the server
//	QuestionOfLowerEpoch          a master that was replaced, and has nothing to change, never learns of it
//	StoppedAttempt                a message that has lingered gives a job a second life beside the one that the master knows
//	AttemptBelowTheHighest        the same, after a job was resized once more
//	ReleaseBelowTheHighest        a late Release takes containers from the attempt that runs
//	StopEndsEarlierAttempts       processes that are taken for dead run on beside the next attempt
//	StopSparesLaterAttempts       a late Stop kills the attempt that has followed
//	ResumeNeedsCreate             processes run where the master counts no container
//	ResumeStartsOnce              a job goes on from an old checkpoint, and nobody learns that it has died
//	EffectsCanBeRepeated          an adjustment fails because one reply was lost
//	ContainersAreWhatIsSaid       room is given out twice, or is kept for nobody
//	UnreadableCheckpoint          a job begins anew, or is suspended, although an earlier checkpoint can be read
//	StatusNamesTheNewestAttempt   a job that runs is taken for dead, or one that was stopped for alive
//	MemorySurvives                after each restart of an agent the messages that linger are obeyed
//	LostMemory                    a machine that was set up anew is believed to know what was stopped on it
//	OrdersForAnother              of two machines with one name the wrong one obeys
//	WitnessOfJournal              a master that has lost the end of its journal begins from a past in which other things run
//	Verify                        a job is stopped for a checkpoint that nobody can read
//	StoreThatIsNamed              a checkpoint lies where the next server does not find it
//	LeaseEnds                     a server that is cut off runs its jobs while they are resumed elsewhere
//	OldStampsRenewNothing         the same, where words reach the server and its answers are lost
package agenttest
