// This file implements how replies are made, and how those of several servers become one.

package driver

import (
	"errors"
	"slices"

	"github.com/apportion/apportion/checkpoint"
)

// verdict is how an effect went on one server.
type verdict struct {
	server string
	reply  checkpoint.Reply
}

// failed is the reply to an effect that ended with an error; nil: it is done.
func failed(err error) checkpoint.Reply {
	// Step -1 is "not known", for a checkpoint of step 0 is a right one.
	reply := checkpoint.Reply{Outcome: checkpoint.Done, Step: -1}
	if err != nil {
		reply.Outcome, reply.Detail = checkpoint.Failed, err.Error()
	}
	// Fenced ends the master, Failed only the effect. The two must not be mixed up.
	// It goes last, since such an error may come along with others.
	if errors.Is(err, checkpoint.ErrFenced) {
		reply.Outcome = checkpoint.Fenced
	}
	return reply
}

// badness orders the outcomes.
//
// A Failed effect is tried again, Unreadable as well but for the last time, Damaged begins from an earlier checkpoint, and Fenced ends the
// master: what has the wider consequence stands further right and wins.
var badness = []checkpoint.Outcome{checkpoint.Done, checkpoint.Failed, checkpoint.Unreadable, checkpoint.Damaged, checkpoint.Fenced}

// worse joins the replies of two servers: an effect is done if it is done on both. The step is that of the one
// server that knows it.
func worse(a, b checkpoint.Reply) checkpoint.Reply {
	if slices.Index(badness, b.Outcome) > slices.Index(badness, a.Outcome) {
		a, b = b, a
	}
	a.Step = max(a.Step, b.Step)
	return a
}
