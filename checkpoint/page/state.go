// This file declares what a page shows.

package page

// State is a cluster at one moment.
type State struct {
	// Head is what stands above all lists.
	Head
	// Clock is now, in seconds: those of Unix where Wall, else of any zero.
	Clock float64
	// Servers, Jobs and Queues are in the order in which they are shown, each ID once in its list.
	Servers []Server
	Jobs    []Job
	Queues  []Queue
}

// Head is what a page says of the cluster as a whole.
type Head struct {
	Title string `json:"title"`
	// Summary is a sentence; Fault, if not empty, what keeps decisions from being taken; Notes are the limits that jobs run under.
	Summary string   `json:"summary"`
	Fault   string   `json:"fault,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Kinds name the quantities of capacities and demands.
	Kinds []string `json:"kinds"`
	// Rate is how many seconds the Clock goes on in a second, and Wall says that it is Unix time.
	Rate float64 `json:"rate"`
	Wall bool    `json:"wall,omitempty"`
}

// Server is a server.
type Server struct {
	ID string `json:"id"`
	// Rack groups servers; empty: it is in none.
	Rack string `json:"rack,omitempty"`
	// State says in words why nothing new comes to it; empty: it is up.
	State    string  `json:"state,omitempty"`
	Capacity []int64 `json:"capacity"`
}

// Job is a job.
type Job struct {
	ID string `json:"id"`
	// State is how it stands, in a word, and Since when it began to wait or to run, by the Clock; 0: not known.
	State string  `json:"state"`
	Since float64 `json:"since,omitzero"`
	// Queue is its queue, and Place its place among those that wait in there, from 1; 0: it does not wait.
	Queue string `json:"queue,omitempty"`
	Place int    `json:"place,omitzero"`
	// On is how many containers it has on each server, and Demand what each takes.
	On     map[string]int64 `json:"on,omitempty"`
	Demand []int64          `json:"demand,omitempty"`
	// Share is what it has of the cluster, and Fair what it deserves, from 0 to 1.
	Share float64 `json:"share"`
	Fair  float64 `json:"fair"`
	// Why says why it has nothing, or is not where it was to be, or when it is to begin; empty: there is nothing to say.
	Why string `json:"why,omitempty"`
	// Early and Late are when it begins in a tenth and nine tenths of a forecast, by the Clock, where it has nothing; Early 0: not known,
	// Late 0: after all that was looked at. Without is a job without which it would begin at Then; empty: nobody has asked.
	Early   float64 `json:"early,omitzero"`
	Late    float64 `json:"late,omitzero"`
	Without string  `json:"without,omitempty"`
	Then    float64 `json:"then,omitzero"`
	// Step, Saved and Attempt are how far it is, the step of its newest checkpoint, and the number of its run; 0: not known.
	Step    int64 `json:"step,omitzero"`
	Saved   int64 `json:"saved,omitzero"`
	Attempt int64 `json:"attempt,omitzero"`
	// Curve is its loss by step as the points of a line in a box of CurveWidth and CurveHeight, and Loss the end of that in words.
	Curve string `json:"curve,omitempty"`
	Loss  string `json:"loss,omitempty"`
}

// CurveWidth and CurveHeight are the size of the box of a Job's Curve, in pixels.
const CurveWidth, CurveHeight = 320, 60

// Queue is a queue, with one quantity a kind in each list.
type Queue struct {
	ID     string `json:"id"`
	Parent string `json:"parent,omitempty"`
	// Used is what it has, Guarantee what is guaranteed to it. Borrowed is what it has beyond its guarantee, and Lent what it has not
	// got of its guarantee while others have it.
	Used      []int64 `json:"used"`
	Guarantee []int64 `json:"guarantee,omitempty"`
	Borrowed  []int64 `json:"borrowed,omitempty"`
	Lent      []int64 `json:"lent,omitempty"`
	// Waiting is how many jobs in it have nothing.
	Waiting int `json:"waiting,omitzero"`
}

// rackLabels are the labels that may name a rack, the first one that is there counts.
var rackLabels = []string{"rack", "topology.kubernetes.io/rack", "topology.kubernetes.io/zone", "zone"}

// RackOf returns the rack, or else the zone, that labels name; empty: they name none.
func RackOf(labels map[string]string) string {
	for _, label := range rackLabels {
		if rack := labels[label]; rack != "" {
			return rack
		}
	}
	return ""
}
