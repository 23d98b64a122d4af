// This file holds Reason, in which every package says why it refused, stopped or delayed something, with what stands in the way and
// what would help.

package apportion

// Reason says why a job waits, was refused or got no more: as data, and as one sentence or a few. The zero
// Reason: nothing stands in the way.
type Reason struct {
	// Constraint is what stands in the way: a constant of the package that answers, for instance
	// "capacity (6)" of alloc or "room" of checkpoint.
	Constraint string `json:"constraint,omitempty"`
	// Applications are the IDs of the jobs that it concerns; empty: the one asked about, or all
	// together.
	Applications []string `json:"applications,omitempty"`
	// Kind is the kind of resource that is short, if it is one.
	Kind string `json:"kind,omitempty"`
	// Need and Have are the two sides of the inequality that does not hold, in units of Kind or in
	// those that Text names; both 0 where there is none.
	Need float64 `json:"need"`
	Have float64 `json:"have"`
	// Asked is how many containers more the job asks for, and Fits how many of these have room as things stand; both 0 where nobody
	// has looked at the servers.
	Asked int64 `json:"asked,omitzero"`
	Fits  int64 `json:"fits,omitzero"`
	// Blockers say what keeps the job off the servers: first what holds for all of them together, then by how many servers each
	// keeps it off. Every server stands in one blocker, or has room for all that is asked. nil: nobody has looked.
	Blockers []Blocker `json:"blockers,omitzero"`
	// Remedies are single changes that each let the job have what it asks for, all else as it is, the cheapest first: the least change
	// of each sort. Of one that the empty servers could not hold they are what lets these hold it.
	Remedies []Remedy `json:"remedies,omitzero"`
	// Text is the whole in short sentences, the first without a capital, since it follows a name.
	Text string `json:"text"`
}

// Blocker is what keeps a job off some servers, or off all of them together.
type Blocker struct {
	// Cause is a constant of the package that answers, for instance "label" of alloc.
	Cause string `json:"cause"`
	// Servers is how many servers it keeps the job off, and Server the ID of the first of them. 0 and empty: it is about all together.
	Servers int64  `json:"servers,omitzero"`
	Server  string `json:"server,omitempty"`
	// Label is the requirement that these servers do not satisfy, as a selector: "zone=a|b", "zone!=a", "zone", "!zone".
	Label string `json:"label,omitempty"`
	// Kind is the kind that is short, and Need what is needed of it: by one container on a server, by all that is asked where it is
	// about all servers together. Free is what there is of it on all these servers, Largest the most on one of them.
	Kind    string `json:"kind,omitempty"`
	Need    int64  `json:"need,omitzero"`
	Free    int64  `json:"free,omitzero"`
	Largest int64  `json:"largest,omitzero"`
	// Fits is how many containers have room on these servers.
	Fits int64 `json:"fits,omitzero"`
	// Limit is the number that a rule allows: containers on a server, servers, a ceiling in units of Kind, or a budget.
	Limit int64 `json:"limit,omitzero"`
	// Queue is the ID of the queue whose ceiling or guarantee it is.
	Queue string `json:"queue,omitempty"`
	// Applications are the IDs of the jobs that have what is missing.
	Applications []string `json:"applications,omitempty"`
	// Setting is the field of the input that would lift it, by its path; empty: none would.
	Setting string `json:"setting,omitempty"`
}

// Remedy is a change that lets a job have what it asks for, all else as it is.
type Remedy struct {
	// Change is a constant of the package that answers, for instance "suspend" of alloc.
	Change string `json:"change"`
	// Applications are the IDs of the jobs that it changes.
	Applications []string `json:"applications,omitempty"`
	// Server is the ID of the server that it is about: for one more, of one that is alike.
	Server string `json:"server,omitempty"`
	// Setting is the field of the input that it changes, by its path, and Value the least value that is enough.
	Setting string  `json:"setting,omitempty"`
	Value   float64 `json:"value,omitzero"`
	// Price is what it takes from the objective, before what the job adds to it.
	Price float64 `json:"price,omitzero"`
}
