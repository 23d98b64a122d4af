// This file tests histories of use: bad input, queues that come and go, the week that the documentation tells of, and that
// nothing drifts.

package drf_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/drforacle"
)

// use is what queues have used, by their IDs.
type use = map[string]apportion.Resources

func newHistory(t fatal, kinds int, halfLife int64) *drf.History {
	return must.Have(drf.NewHistory(kinds, halfLife))(t)
}

func advance(t fatal, h *drf.History, interval int64, used use) {
	must.Do(t, h.Advance(interval, used))
}

// usages returns the usage of queues of these IDs.
func usages(t fatal, h *drf.History, capacity apportion.Resources, ids ...string) []float64 {
	queues := make([]drf.Queue, len(ids))
	for i, id := range ids {
		queues[i] = drf.Queue{ID: id, Usage: 7}
	}
	charged := must.Have(h.Charge(queues, capacity))(t)
	list := make([]float64, len(ids))
	for i := range charged {
		list[i] = charged[i].Usage
	}
	return list
}

// After one half-life half of what was used is left, after two a quarter.
func TestHistoryHalves(t *testing.T) {
	h := newHistory(t, 2, 10)
	advance(t, h, 10, use{"a": {8, 4}, "a/b": {8, 0}})
	for _, want := range []float64{.5, .25, .125} {
		must.Equal(t, cmp.Diff([]float64{want, want, 0}, usages(t, h, apportion.Resources{8, 8}, "a", "a/b", "c")), "")
		advance(t, h, 10, use{"a/b": {0, 0}})
	}
	// The largest part counts, and a kind of which there is none does not.
	advance(t, h, 1000, use{"a": {3, 2}})
	for _, test := range []struct {
		capacity apportion.Resources
		want     float64
	}{{apportion.Resources{12, 4}, .5}, {apportion.Resources{4, 100}, .75}, {apportion.Resources{0, 8}, .25}, {apportion.Resources{0, 0}, 0}} {
		if got := usages(t, h, test.capacity, "a"); got[0] != test.want {
			t.Errorf("of %v: %v, want %v", test.capacity, got[0], test.want)
		}
	}
}

func TestHistoryRefuses(t *testing.T) {
	for _, test := range []struct {
		kinds    int
		halfLife int64
		want     error
	}{{0, 1, apportion.ErrEmpty}, {-1, 1, apportion.ErrEmpty}, {1, 0, apportion.ErrRange}, {1, -5, apportion.ErrRange}} {
		must.Fail(drf.NewHistory(test.kinds, test.halfLife))(t, test.want, test.kinds, "kinds, half-life", test.halfLife)
	}
	h := newHistory(t, 2, 10)
	advance(t, h, 5, use{"a": {1, 2}})
	before := h.Snapshot()
	for _, test := range []struct {
		name     string
		interval int64
		used     use
		want     error
		text     string
	}{
		{"interval", -1, nil, apportion.ErrNegative, "Interval"},
		{"negative", 1, use{"b": {1, 1}, "a": {1, -2}}, apportion.ErrNegative, `queue "a": Used[1]`},
		{"length", 1, use{"b": {1, 1}, "a": {1}}, apportion.ErrLength, `queue "a": Used`},
		{"no name", 1, use{"": {1, 1}}, apportion.ErrEmpty, "ID"},
		{"no text", 1, use{"a\x00": {1, 1}}, apportion.ErrRange, "ID"},
	} {
		if err := h.Advance(test.interval, test.used); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.name, err)
		}
		must.Equal(t, cmp.Diff(before, h.Snapshot()), "", test.name, "has changed the history")
	}
	for _, capacity := range []apportion.Resources{{1}, {1, -1}} {
		must.Fail(h.Charge(nil, capacity))(t, must.ErrAny, "a capacity of", capacity, "is taken")
	}
}

// A queue that is not named is forgotten once it counts for nothing, however often it is asked for; one that is named with
// nothing is not, and an interval without length is none.
func TestHistoryForgets(t *testing.T) {
	for _, interval := range []int64{1, 100, 86_400} {
		h := newHistory(t, 1, 86_400)
		advance(t, h, 1000, use{"gone": {1 << 20}, "quiet": {1 << 20}, "new": {0}})
		must.Equal(t, len(h.Snapshot().Queues), 2, "queues have a history")
		before := h.Snapshot()
		advance(t, h, 0, use{"other": {4}})
		must.Equal(t, cmp.Diff(before, h.Snapshot()), "")
		// 63 half-lives from 2^20 units to the last of 2^-40, and as long again as the last ones stand still.
		for at := int64(0); at < 64*86_400 && len(h.Snapshot().Queues) == 2; at += interval {
			for range 50 {
				advance(t, h, interval, use{"quiet": {0}})
			}
		}
		if left := h.Snapshot().Queues; len(left) != 1 || left[0].ID != "quiet" {
			t.Errorf("at intervals of %d %v are left", interval, left)
		}
	}
}

// Snapshots come back as they were through JSON, go on alike, and what is damaged is refused.
func TestHistoryState(t *testing.T) {
	h := newHistory(t, 2, 1000)
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		advance(t, h, r.Int64N(200), use{"a": {r.Int64N(1 << 40), 1}, fmt.Sprint("q", r.IntN(9)): {math.MaxInt64, 0}})
	}
	text := must.Have(json.Marshal(h.Snapshot()))(t)
	read := func(text []byte) (*drf.History, error) {
		var state drf.HistoryState
		if err := json.Unmarshal(text, &state); err != nil {
			return nil, err
		}
		return drf.RestoreHistory(&state)
	}
	back := must.Have(read(text))(t)
	for range 3 {
		must.Equal(t, cmp.Diff(h.Snapshot(), back.Snapshot()), "")
		advance(t, h, 77, use{"a": {5, 5}})
		advance(t, back, 77, use{"a": {5, 5}})
	}
	for cut := range text {
		must.Fail(read(text[:cut]))(t, must.ErrAny, "cut at", cut, "it is read")
	}
	for _, test := range []struct {
		name   string
		change func(s *drf.HistoryState)
		want   error
	}{
		{"half-life", func(s *drf.HistoryState) { s.HalfLife = 0 }, apportion.ErrRange},
		{"kinds", func(s *drf.HistoryState) { s.Kinds = 0 }, apportion.ErrEmpty},
		{"another number of kinds", func(s *drf.HistoryState) { s.Kinds = 3 }, apportion.ErrLength},
		{"empty ID", func(s *drf.HistoryState) { s.Queues[1].ID = "" }, apportion.ErrEmpty},
		{"ID twice", func(s *drf.HistoryState) { s.Queues[1].ID = "a" }, apportion.ErrDuplicate},
		{"units", func(s *drf.HistoryState) { s.Queues[0].Units = s.Queues[0].Units[:1] }, apportion.ErrLength},
		{"negative units", func(s *drf.HistoryState) { s.Queues[0].Units[0] = -1 }, apportion.ErrNegative},
		{"parts", func(s *drf.HistoryState) { s.Queues[0].Parts = nil }, apportion.ErrLength},
		{"negative parts", func(s *drf.HistoryState) { s.Queues[0].Parts[1] = -1 }, apportion.ErrNegative},
		{"parts that are units", func(s *drf.HistoryState) { s.Queues[0].Parts[1] = 1 << 40 }, apportion.ErrRange},
		{"nothing used", func(s *drf.HistoryState) { s.Queues[0].Units, s.Queues[0].Parts = []int64{0, 0}, []int64{0, 0} }, apportion.ErrEmpty},
	} {
		state := h.Snapshot()
		test.change(state)
		must.Fail(drf.RestoreHistory(state))(t, test.want, test.name)
	}
}

var historyUpdates = flag.Int("history", 100_000, "updates that TestHistoryDrift makes; 10,000,000 take half a minute")

// After any number of updates the mean is as near to the one without rounding as its documentation says.
func TestHistoryDrift(t *testing.T) {
	const halfLife = 86_400
	h, exact := newHistory(t, 1, halfLife), drforacle.Decay{HalfLife: halfLife, Bits: 192, FactorBits: 192}
	mean, r := new(big.Int), rand.New(rand.NewPCG(3, 3))
	used := int64(0)
	// An error below this one stays below it, whatever comes.
	const most = 64
	limit := (0x1p-41 + most*0x1p-63) / (1 - math.Exp2(-1.0/halfLife))
	worst, sum, compared := 0.0, 0.0, 0
	for i := range *historyUpdates {
		interval := int64(1)
		if r.IntN(1000) == 0 {
			interval, used = 1+r.Int64N(600), r.Int64N(most+1)
		}
		advance(t, h, interval, use{"q": {used}})
		mean = exact.Blend(mean, used, interval)
		if i%97 != 0 || len(h.Snapshot().Queues) == 0 {
			continue
		}
		q := h.Snapshot().Queues[0]
		got := new(big.Int).Lsh(big.NewInt(q.Units[0]<<40|q.Parts[0]), 192-40)
		off, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(got.Sub(got, mean)), -192).Float64()
		worst, sum, compared = max(worst, math.Abs(off)), sum+off, compared+1
		if math.Abs(off) > limit {
			t.Fatalf("after %d updates the mean is off by %g, above %g", i+1, off, limit)
		}
	}
	t.Logf("%d updates: off by %.2g at most and %.2g in the mean, %.2g possible", *historyUpdates, worst, sum/float64(compared), limit)
}

// week plays the documentation's week: queue a has 32 GPUs alone for seven days, then b comes; both always have jobs of one GPU
// and so many hours. It returns what b has in the mean of each of the five days that follow, and the hours of these in which a
// is below what is guaranteed to each.
func week(t *testing.T, jobHours int, guarantee int64) (days []float64, below int) {
	const gpus, halfLife = 32, 24
	h := newHistory(t, 1, halfLife)
	queues := []drf.Queue{{ID: "a"}, {ID: "b"}}
	// Ends are those of the jobs that run, by their queues; the first jobs end one after the other.
	ends := make([][]int, 2)
	for g := range gpus {
		ends[0] = append(ends[0], 1+g*jobHours/gpus)
	}
	for hour := range 12 * 24 {
		free := gpus
		for q := range ends {
			var left []int
			for _, end := range ends[q] {
				if end > hour {
					left = append(left, end)
				}
			}
			ends[q], free = left, free-len(left)
		}
		charged := must.Have(h.Charge(queues, apportion.Resources{gpus}))(t)
		for ; free > 0; free-- {
			level := func(q int) float64 { return float64(len(ends[q]))/gpus + charged[q].Usage }
			within := func(q int) bool { return int64(len(ends[q])) < guarantee }
			next := 0
			if hour >= 7*24 && (within(1) && !within(0) || within(1) == within(0) && level(1) < level(0)) {
				next = 1
			}
			ends[next] = append(ends[next], hour+jobHours)
		}
		advance(t, h, 1, use{"a": {int64(len(ends[0]))}, "b": {int64(len(ends[1]))}})
		if day := hour/24 - 7; day >= 0 {
			if hour%24 == 0 {
				days = append(days, 0)
			}
			days[day] += float64(len(ends[1])) / 24
			if int64(len(ends[0])) < guarantee {
				below++
			}
		}
	}
	return days, below
}

// A queue that had the cluster for a week yields, recovers, and is never below what is guaranteed to it.
func TestHistoryWeek(t *testing.T) {
	source := must.Have(os.ReadFile("history.go"))(t)
	for _, test := range []struct {
		name      string
		hours     int
		guarantee int64
	}{{"1 h", 1, 0}, {"72 h", 72, 0}, {"1 h, 12 guaranteed to each", 1, 12}} {
		days, below := week(t, test.hours, test.guarantee)
		line := fmt.Sprintf("//\t%s\t%.1f\t%.1f\t%.1f\t%.1f\n", test.name, days[0], days[1], days[2], days[4])
		if !strings.Contains(string(source), line) {
			t.Errorf("the documentation has not %q", line)
		}
		if below > 0 {
			t.Errorf("%s: a is below its guarantee for %d hours", test.name, below)
		}
	}
}

// One update is one queue of four kinds, with an interval of its own.
func BenchmarkHistoryAdvance(b *testing.B) {
	for _, queues := range []int{1, 1000} {
		b.Run(fmt.Sprintf("queues=%d/kinds=4", queues), func(b *testing.B) {
			h := newHistory(b, 4, 86_400)
			used := make(use)
			for q := range queues {
				used[fmt.Sprint("queue-", q)] = apportion.Resources{8, 64, 512 << 30, int64(q)}
			}
			b.ReportAllocs()
			start := cpuTime(b)
			for i := 0; b.Loop(); i++ {
				advance(b, h, int64(1+i%600), used)
			}
			b.ReportMetric(float64((cpuTime(b)-start).Nanoseconds())/float64(b.N*queues), "cpu-ns/update")
		})
	}
	// The same with math/big is what the exact rule takes without this package.
	b.Run("queues=1/kinds=4/baseline=math-big", func(b *testing.B) {
		decay := drforacle.Decay{HalfLife: 86_400, Bits: 40, FactorBits: 62}
		means := []*big.Int{new(big.Int), new(big.Int), new(big.Int), new(big.Int)}
		start := cpuTime(b)
		for i := 0; b.Loop(); i++ {
			for k, used := range []int64{8, 64, 512 << 30, 1} {
				means[k] = decay.Blend(means[k], used, int64(1+i%600))
			}
		}
		b.ReportMetric(float64((cpuTime(b)-start).Nanoseconds())/float64(b.N), "cpu-ns/update")
	})
}
