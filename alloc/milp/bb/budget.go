// This file implements the limits of a search: nodes, time, memory and the context.

package bb

import (
	"context"
	"fmt"
	"time"

	"github.com/apportion/apportion/alloc/milp"
)

// budget says when to stop.
// Once reason is set it stays, so a search that is asked again gives the same answer.
type budget struct {
	ctx      context.Context
	deadline time.Time // zero: none
	nodes    int64     // 0: no limit
	bytes    float64
	reason   string // why it ended; empty: it has not
	ended    milp.Status
}

// spent reports whether the search must stop, for the reason kept in the budget.
func (b *budget) spent() bool {
	switch {
	// The first reason counts: a limit that is passed while the search winds up does not replace
	// it.
	case b.reason != "":
	// The context is asked and not waited for: one goroutine, no channel.
	case b.ctx.Err() != nil:
		b.reason, b.ended = b.ctx.Err().Error(), milp.Cancelled
	case !b.deadline.IsZero() && time.Now().After(b.deadline):
		b.reason, b.ended = "time limit", milp.LimitReached
	}
	return b.reason != ""
}

// spentOn reports the same before one more node, with that many nodes done and bytes in use.
func (b *budget) spentOn(nodes int64, bytes float64) bool {
	switch {
	case b.spent():
	// The limit is checked before a node, so exactly b.nodes are solved.
	case b.nodes > 0 && nodes >= b.nodes:
		b.reason, b.ended = fmt.Sprintf("node limit %d", b.nodes), milp.LimitReached
	case bytes > b.bytes:
		b.reason, b.ended = fmt.Sprintf("memory limit: %.0f bytes in use", bytes), milp.LimitReached
	}
	return b.reason != ""
}
