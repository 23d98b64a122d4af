// This file gives a series anything a job may print.

package growth_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/internal/must"
)

// FuzzSeries checks that every number a series tells is finite and not negative, whatever it was
// told.
func FuzzSeries(f *testing.F) {
	var nan [24]byte
	binary.LittleEndian.PutUint64(nan[8:], math.Float64bits(math.NaN()))
	f.Add(nan[:])
	f.Add(make([]byte, 24*40))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s growth.Series
		for len(data) >= 24 {
			at := time.Duration(binary.LittleEndian.Uint64(data))
			value := math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))
			usage := math.Float64frombits(binary.LittleEndian.Uint64(data[16:]))
			data = data[24:]
			s.Add(at, value, growth.Used(usage))
			for _, n := range []growth.Normalization{growth.FirstValue, growth.Raw, growth.LargestGrowth} {
				before, _ := s.GainBefore(n)
				for _, got := range []float64{s.Gain(n), before, s.Progress(n), s.Efficiency(n)} {
					if !(got >= 0 && got <= math.MaxFloat64) {
						t.Fatalf("%v is no growth (%v)", got, n)
					}
				}
			}
			if e, ok := s.Evidence(); ok && !(e.Ahead() >= 0 && e.Ahead() <= 1 && e.Chance(0.05) >= 0 && e.Chance(0.05) <= 1) {
				t.Fatalf("no evidence: %+v", e)
			}
			if s.Measured() {
				prospect := growth.Prospect{Alpha: 0.05}
				prospect.Judge(&s)
				if rate := prospect.Rate(&s, growth.FirstValue); !(rate >= 0 && rate <= 1e200) {
					t.Fatalf("%v is no rate", rate)
				}
			}
			must.Have(json.Marshal(s))(t)
		}
	})
}
