// This file tests that Until goes on with other seeds, whether one was given or not.

package rapidtest

import (
	"flag"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

func TestUntil(t *testing.T) {
	seed := flag.Lookup("rapid.seed").Value
	before := seed.String()
	defer func() { _ = seed.Set(before) }()
	for _, given := range []string{"0", "7"} {
		must.Do(t, seed.Set(given))
		drawn, after := map[uint64]bool{}, []int{}
		met := func() bool { after = append(after, len(drawn)); return len(after) == 3 }
		Until(t, "never three runs", met, func(t *rapid.T) { drawn[rapid.Uint64().Draw(t, "x")] = true })
		if after[0] == after[2] {
			t.Errorf("seed %s: numbers after each run: %d, the same again", given, after)
		}
		clear(drawn)
		Runs(t, 2, func(t *rapid.T) { drawn[rapid.Uint64().Draw(t, "x")] = true })
		if len(drawn) <= (after[1]-after[0])*3/2 {
			t.Errorf("seed %s: %d numbers in two runs", given, len(drawn))
		}
		must.Equal(t, seed.String(), given, "seed", "was left as")
	}
}
