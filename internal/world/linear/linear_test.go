// This file checks histories whose answer is known, and random ones against a search that remembers nothing.

package linear

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

func TestCheck(t *testing.T) {
	unknown := func(k Kind, begin time.Duration) Call { return Call{Kind: k, Begin: begin, Unknown: true} }
	call := func(k Kind, begin, end time.Duration) Call { return Call{Kind: k, Begin: begin, End: end} }
	read := func(found State, begin, end time.Duration) Call { return Call{Read, found, begin, end, false} }
	for _, c := range []struct {
		name  string
		calls []Call
		want  bool
	}{
		{"none", nil, true},
		{"in order", []Call{call(Submit, 0, 1), read(Live, 2, 3), call(Touch, 4, 5), read(Ended, 6, 7), read(Absent|Gone, 8, 9)}, true},
		{"lost", []Call{call(Submit, 0, 1), read(Absent, 2, 3)}, false},
		{"twice", []Call{call(Submit, 0, 1), call(Submit, 2, 3)}, false},
		{"alive again", []Call{call(Submit, 0, 1), read(Ended, 2, 3), read(Live, 4, 5)}, false},
		{"touched after its end", []Call{call(Submit, 0, 1), read(Ended, 2, 3), call(Touch, 4, 5)}, false},
		{"seen before it was there", []Call{read(Live, 0, 1), call(Submit, 2, 3)}, false},
		{"seen while it came", []Call{call(Submit, 0, 9), read(Absent, 1, 2), read(Live, 3, 4)}, true},
		{"gone while it came", []Call{call(Submit, 0, 9), read(Live, 1, 2), read(Absent, 3, 4)}, false},
		{"nobody knows", []Call{unknown(Submit, 0), read(Absent, 1, 2), read(Live, 3, 4)}, true},
		{"nobody will know", []Call{unknown(Submit, 0), read(Absent, 1, 2)}, true},
		{"nobody has asked", []Call{read(Live, 1, 2), unknown(Submit, 3)}, false},
		{"of two that overlap the later first", []Call{read(Live, 0, 9), call(Submit, 1, 8)}, true},
	} {
		must.Equal(t, Check(c.calls), c.want, c.name)
	}
}

// dumb tries all orders.
func dumb(calls []Call, state State) bool {
	over := true
	for i, c := range calls {
		over = over && c.Unknown
		may := true
		for _, d := range calls {
			may = may && (d.Unknown || d.End >= c.Begin)
		}
		if next := after(state, &c); may && next != 0 {
			rest := append(append([]Call{}, calls[:i]...), calls[i+1:]...)
			if dumb(rest, next) {
				return true
			}
		}
	}
	return over
}

func TestCheckAgainstAllOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	answers := map[bool]int{}
	for range 20_000 {
		var calls []Call
		for range rng.IntN(6) {
			begin := time.Duration(rng.IntN(8))
			calls = append(calls, Call{Kind(rng.IntN(3)), State(1 + rng.IntN(15)), begin, begin + time.Duration(rng.IntN(5)), false})
			if c := &calls[len(calls)-1]; c.Kind != Read && rng.IntN(3) == 0 {
				c.Unknown = true
			}
		}
		got := Check(calls)
		must.Equal(t, got, dumb(calls, Absent), "and of all orders", calls)
		answers[got]++
	}
	if answers[true] < 1000 || answers[false] < 1000 {
		t.Errorf("the histories are all alike: %v", answers)
	}
}
