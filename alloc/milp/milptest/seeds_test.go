package milptest

import (
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion/alloc/milp"
)

// digest is a number that nearly every change of a model changes: that of its MPS text.
func digest(t *testing.T, m *milp.Model) uint64 {
	t.Helper()
	h := fnv.New64a()
	if err := m.WriteMPS(h); err != nil {
		t.Fatal(err)
	}
	return h.Sum64()
}

// A finding names a random model by its family and seed, and the market split has no other name than its size: both mean the
// same models as in notes of times and faults.
func TestSeedsMeanModels(t *testing.T) {
	for name, c := range map[string]struct {
		family
		want uint64 // of the first thirty together
	}{
		"binary":                {family{name: "binary", integers: 8, width: 1}, 0xdf91bade978e368},
		"binary with equations": {family{name: "binary with equations", integers: 8, width: 1, equations: true}, 0x401749c7c34a1be3},
		"integer":               {family{name: "integer", integers: 3, width: 9}, 0xbdda9143ab1a859e},
		"continuous":            {family{name: "continuous", continuous: 3}, 0x2fa894cdf10134f1},
		"mixed with equations":  {family{name: "mixed with equations", integers: 3, continuous: 2, width: 4, equations: true}, 0x76ba2e97628604a1},
		"mixed":                 {family{name: "mixed", integers: 3, continuous: 2, width: 4}, 0xdb7a810c76d731b1},
	} {
		var all uint64
		for seed := range uint64(30) {
			all = all*31 + digest(t, c.model(rand.New(rand.NewPCG(seed, uint64(c.integers+16*c.continuous)))))
		}
		if all != c.want {
			t.Errorf("%s: digest %#x, want %#x", name, all, c.want)
		}
	}
	if got := [2]uint64{digest(t, marketSplit(false)), digest(t, marketSplit(true))}; got != [2]uint64{0xe77acc3701c60372, 0xdc4b3af1daf5f9c6} {
		t.Errorf("market split: digests %#x", got)
	}
}
