package leaf

import (
	"fmt"
	"testing"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded/internal/problem"
)

// The judgements remembered are bounded in bytes.
func TestSeenIsBounded(t *testing.T) {
	l := newAnswers(problem.New(alloctest.Table2(1, 2, 3, false)))
	const size = 1 << 16
	for n := range 2 * mostSeenBytes / size {
		l.note(fmt.Sprintf("%0*d", size, n), Judgement{})
		if held := len(l.Seen) * size; held > mostSeenBytes {
			t.Fatalf("%d bytes after %d judgements", held, n)
		}
	}
	if len(l.Seen) == 0 {
		t.Error("nothing is remembered")
	}
}
