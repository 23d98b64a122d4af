// This file tests which of what is under way in a lane an end cuts short.

package agent

import (
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestDropUpTo(t *testing.T) {
	l := newLane()
	for attempt := int64(1); attempt <= 3; attempt++ {
		ctx, leave := l.enter(t.Context(), attempt)
		defer leave()
		l.drop(2)
		must.Equal(t, ctx.Err() != nil, attempt <= 2, "attempt", attempt, "is cut short")
	}
}
