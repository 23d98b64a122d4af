// This file holds whole inputs of the streams, with every field, for the tests beside it.

package main

import "strings"

const (
	fullOASiS = `{"kinds":["cpu"],"slots":2,"worker_servers":[{"id":"w","capacity":[4]}],"ps_servers":[{"id":"p","capacity":[2]}],`
	fullJob   = `{"id":"a","arrival":1,"epochs":1,"chunks":2,"minibatches":1,"minibatch_slots":1,"comm_slots":0,
		"worker_bandwidth":1,"ps_bandwidth":2,"worker":[1],"ps":[1],"utility":`
	fullFlowCon = `{"kinds":["cpu","gpu"],"interval":10,"alpha":0.1,"options":{"normalization":"raw","classifier":"prospect","confidence":2,
		"steering":"gpu","beta":3,"max_interval":20,"min_interval":1,"bound_converged_only":true,"silence":70,
		"unmeasured_is_zero":true,"missing_is_zero":true,"bound_one_more":false}}`
	fullSpeCon = `{"kinds":["cpu"],"workers":[{"id":"w","capacity":[4]}],"interval":10,"alpha":0.1,"options":{"normalization":"raw",
		"classifier":"decline","confidence":2,"steering":"cpu","separate":true,"at_entry":true,"weights":[4,2,1],"ignore_room":true,
		"rebalance":false,"rebalance_literal":true,"rebalance_ceiling":true,"silence":70}}`
)

// streams are the subcommands that read and write JSON lines.
var streams = []string{"oasis", "flowcon", "specon"}

// line returns the only line of a text as newLines reads it.
func line(text string) *lines {
	l := newLines(strings.NewReader(strings.ReplaceAll(text, "\n", "")))
	_ = l.next() // an empty text is an empty line
	return l
}
