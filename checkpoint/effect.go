// This file declares the effects: what the protocol asks the caller to do, and what servers must
// promise about it.

package checkpoint

// Action is what an Effect does.
type Action string

// The actions, in the order of an adjustment.
const (
	// Save: have the job write its state, and commit it to the store as number Checkpoint.
	Save Action = "save"
	// Verify: read number Checkpoint from the store, to its end. The master does that, or the servers, each a share.
	Verify Action = "verify"
	// Stop: end every process of the job, of Attempt and all before, on Servers.
	Stop Action = "stop"
	// Release: remove containers of the job on Servers until no more than Containers are left.
	Release Action = "release"
	// Create: have on Servers the containers of the job that Containers lists. Those that are there
	// already are kept and belong to Attempt from now on.
	Create Action = "create"
	// Resume: start the job's processes in Containers, from number Checkpoint of the store, or from the
	// beginning if that is 0.
	Resume Action = "resume"
	// Confirm: wait until the processes of Attempt run.
	Confirm Action = "confirm"
	// Prune: delete every checkpoint of the job with a lower number than Checkpoint. It has no reply
	// and is not repeated: the next one covers it.
	Prune Action = "prune"
)

// Effect is one thing for the caller to do, after the Record of the same [Ready] is durable. Effects of
// one Ready may be done at the same time.
//
// An effect may be done twice and late: it is issued again after a failure, a time-out or a crash of
// the master, and messages linger. So a server remembers, per job, the highest Attempt of a Create
// that it did, of a Resume that it did, and of a Stop, and over all jobs the highest Epoch. And it
// promises:
//
//   - It refuses a lower Epoch than it has seen.
//   - It refuses a Create, a Resume and a Save of an attempt that is not above the highest stopped, or
//     is below the highest created; and a Release of one that is below the highest created. So what
//     comes late neither revives an attempt nor takes containers from the next.
//   - A Stop ends the attempts up to its own, and none above.
//   - A Resume needs the Create of its attempt, and starts an attempt once. Done again it starts nothing, not even if the processes have
//     died since: they would begin from a checkpoint that is not the newest any more.
//   - All else is idempotent: an effect says what shall be, not what to change.
//   - To refuse is to do nothing and to say [ErrFenced].
//   - It does nothing that another Journal asks for than the one before, and says Failed: what runs there is on record
//     elsewhere.
//   - If it has lost its memory, it does nothing that was asked of it before, and says that it is another, see
//     ServerUp.Incarnation; so does an agent that has only the name of this one.
type Effect struct {
	// ID numbers the effects of all jobs, ascending; the Reply quotes it.
	ID int64 `json:"id"`
	// Epoch numbers the masters, ascending.
	Epoch int64 `json:"epoch"`
	// Journal is the name of the journal that the effect is on record in; empty: it has none. With ID it is what a server
	// keeps as its [Witness].
	Journal string `json:"journal,omitempty"`
	// Former are the journals in whose place this one has come, see [Machine.AcceptLoss]: servers that belong to one of them go over to
	// it.
	Former []string `json:"former,omitempty"`
	Action Action   `json:"action"`
	Job    string   `json:"job"`
	// Attempt is the run of the job that the effect belongs to.
	Attempt int64 `json:"attempt"`
	// Containers are the containers of the run, or for Release those that stay: the servers, one entry
	// a container, ascending.
	Containers []string `json:"containers,omitempty"`
	// Servers are those to ask, each once, ascending.
	Servers []string `json:"servers,omitempty"`
	// Checkpoint is the number that Action speaks of.
	Checkpoint int64 `json:"checkpoint,omitempty"`
	// Store is the identity of the store that all checkpoints are in, see [StoreNamed]; empty: it is not known. Whoever
	// reads or writes a checkpoint finds out first whether that is the store which it has, and says Failed if not.
	Store string `json:"store,omitempty"`
}

// Outcome is how an effect went.
type Outcome string

// The outcomes.
const (
	// Done: it is so, on every server asked.
	Done Outcome = "done"
	// Failed: it is not so, or perhaps not everywhere.
	Failed Outcome = "failed"
	// Damaged: Resume could not, for the checkpoint cannot be read: store.ErrCorrupt or store.ErrNotFound. A master does
	// not take a server's word for it, to which the store may not be mounted: it reads the checkpoint itself, and says
	// Failed if it can.
	Damaged Outcome = "damaged"
	// Unreadable: Resume could not, for nobody can read the checkpoint now, for instance since its disk returns errors.
	// That is tried again like Failed, and counts as Damaged after the last try.
	Unreadable Outcome = "unreadable"
	// Fenced: ErrFenced. Another master has taken over.
	Fenced Outcome = "fenced"
)
