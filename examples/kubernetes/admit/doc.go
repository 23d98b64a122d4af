// Package admit decides whether jobs of Kubernetes are admitted, and when they run, by prices of the time to come.
//
// # What it computes
//
// A job says how much work it has, by when it must be done and what it is worth then. [Admission.Offer] answers once, at its
// arrival: admitted, with a number of pods for each slot of time to come, or refused, with the reason. [Admission.Pods] is what
// a job has now: its object is suspended in slots without pods.
//
// # Notation
//
//	annotation max        most pods at a time
//	annotation work       what one pod would take for it all, as in "36h"
//	annotation deadline   a time as in RFC 3339, or a duration from the creation of the object on; none: it may end whenever
//	annotation worth      what it is worth if it ends by then; 1 if nothing is said
//
// # Contract
//
// A promise is kept: whoever is admitted has the pods that do its work in time, on nodes that its selectors allow, unless nodes
// are lost. A job that is late is extended where there is room; one whose nodes are lost is offered again at once, and what
// becomes of it is said. The state is one document, and goes on in another process where it was left.
//
// # Deviations
//
// Speed is linear in the number of pods, up to max: who has measured better may say so by [primaldual.Speeds]. Servers are
// chosen, but only totals reach the API: the stock scheduler places.
package admit
