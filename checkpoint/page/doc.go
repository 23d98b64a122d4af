// Package page shows a cluster to people: servers as boxes that are filled by jobs, jobs and queues with their shares, and the last
// decisions, kept up to date while a browser looks.
//
// # What it computes
//
// A [Board] asks its owner for a [State] again and again while somebody watches, and tells all browsers what has changed. What it
// decides itself is the answer to a question: [Answer] says why a job has what it has, and what would change if it ended or a server
// were drained, by deciding once more on a copy of the problem.
//
// # Notation
//
//	symbol   Go name          unit                     where
//	s_i      Job.Share        part of the cluster      Dorm (2)
//	s^_i     Job.Fair         part of the cluster      Dorm (2)
//	-        State.Clock      seconds of any zero      the owner's clock
//	-        State.Rate       seconds in a second      1 but in a simulation
//
// # Contract
//
// Every answer asks for a link of the owner's secret, or for what the owner takes in its place: see [Board.Handle]. A link opens the
// page, its events and its questions until it is over, and with it ends the stream of events.
//
// One goroutine asks for states, and ends a moment after the last browser has gone. Each browser has a buffer of some messages; where
// that is full the browser is too slow, loses its stream and begins again with everything. At most 100 browsers watch, and one question
// is answered at a time.
//
// The page is one answer: it loads nothing from elsewhere, and its Content-Security-Policy allows its own script and style, by their
// hashes, and requests to where it came from. What users wrote comes to it as JSON and is shown as text.
//
// # Deviations
//
// The place of a job in its queue is that by priority and then by submission. The order in which package alloc lets applications in
// also depends on what queues have and on what has gone past a job.
package page
