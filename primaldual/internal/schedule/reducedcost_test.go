// This file tests the search itself on tables of cost that no market need ever have.

package schedule

import (
	"math"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// bareSearch has given tables of cost, one a slot, and bounds for all prefixes, as collect leaves them.
func bareSearch(tables [][]float64, of []int, job ratio, work int) *Search {
	b := &Search{Limit: DefaultMaxCells}
	b.Tables.Reset()
	b.hulls.reset()
	seen := map[int]int{}
	for _, i := range of {
		if _, ok := seen[i]; !ok {
			seen[i] = b.Tables.distinct()
			for _, cost := range tables[i] {
				b.Tables.Push(cost)
			}
			b.Tables.Close()
			b.hulls.add(tables[i], job, 0)
		} else {
			b.Tables.Repeat(seen[i])
		}
		b.relax.add(b.hulls.of(seen[i]), work)
		lower, lambda, _ := b.relax.bound(work)
		b.bounds = append(b.bounds, bound{lower, lambda, lower})
	}
	return b
}

// problem states work of a job, for prefixes alone.
func problem(job ratio, work int) *Problem { return &Problem{Work: int64(work), Servers: job} }

// searchCounts says how prefixes were decided.
type searchCounts struct{ prefixes, closed, given int }

// checkExact compares, for every prefix, the search with the plain dynamic program.
func checkExact(t *testing.T, b *Search, job ratio, work int, counts *searchCounts) {
	t.Helper()
	const slack = 1e-9
	r := problem(job, work)
	must.Do(t, b.dp.run(b.prefix(r, b.Tables.Slots()-1)))
	for last, want := range b.dp.least {
		must.Equal(t, b.bounds[last].lower < inf, want < inf, "bound", b.bounds[last].lower, "cost", want)
		if want == inf {
			continue
		}
		counts.prefixes++
		p := b.prefix(r, last)
		if b.bounds[last].lower > want+slack {
			t.Fatalf("bound %g above the cost %g", b.bounds[last].lower, want)
		}
		got, result := b.exact(p, want+1, slack)
		if result == tooLarge {
			counts.given++
			continue
		}
		if result != found || math.Abs(got-want) > 2*slack {
			t.Fatalf("result %v, cost %g, want %g; slots %d, work %d", result, got, want, last+1, work)
		}
		sum, cost := int64(0), 0.0
		for s, y := range b.workers {
			sum += y
			cost += b.Tables.Of(s)[y]
		}
		if sum != int64(work) || len(b.workers) != last+1 || math.Abs(cost-got) > slack {
			t.Fatalf("%v: %d workers of %d, cost %g, said %g", b.workers, sum, work, cost, got)
		}
		if cost, result := b.exact(p, want-1e-6, slack); result == found {
			t.Fatalf("found %g where nothing is below %g", cost, want-1e-6)
		}
		m := multipliers{lambda: b.bounds[last].lambda, lower: b.bounds[last].lower}
		if upper := b.priceServers(p, &m, b.trial.round(p, &b.hulls, m.lambda)); upper-m.lower <= slack {
			counts.closed++
		}
		if m.lower > want+slack {
			t.Fatalf("bound with nu %g: %g above the cost %g", m.nu, m.lower, want)
		}
	}
}

// Any tables that do not fall.
func TestExactOnArbitraryTables(t *testing.T) {
	var counts searchCounts
	for seed := range uint64(3000) {
		draw := fromSeed(seed)
		steps := []float64{0, 0.5, 1, 1, 2, 3, 0.37, 1.91}
		var tables [][]float64
		var of []int
		for s := range draw(1, 7) {
			table := []float64{0}
			for range draw(0, 7) {
				table = append(table, table[len(table)-1]+steps[draw(0, len(steps)-1)])
			}
			tables = append(tables, table)
			of = append(of, draw(0, s))
		}
		job := ratio{int64(draw(1, 5)), int64(draw(5, 12))}
		work := draw(1, 18)
		checkExact(t, bareSearch(tables, of, job, work), job, work, &counts)
	}
	t.Logf("%+v", counts)
	if counts.prefixes < 3000 || counts.given == 0 || counts.given > counts.prefixes/2 {
		t.Errorf("%+v", counts)
	}
}

// Many equal slots, and b/B that no number of parameter servers hits: what hulls alone decide worst.
// The price on parameter servers must close most of them without a search.
func TestExactOnEqualSlots(t *testing.T) {
	var counts searchCounts
	for seed := range uint64(400) {
		draw := fromSeed(seed)
		chunks := draw(2, 12)
		job := ratio{int64(draw(1, 314159)), 314159}
		worker := []float64{0.1, 1, 2}[draw(0, 2)]
		ps := []float64{0.3, 1, 5}[draw(0, 2)]
		table := func(most int, worker, ps float64) []float64 {
			var out []float64
			for y := range most + 1 {
				out = append(out, worker*float64(y)+ps*float64(job.PSFor(int64(y))))
			}
			return out
		}
		tables := [][]float64{table(chunks, worker, ps), table(draw(1, chunks), 2*worker, 1.5*ps)}
		var of []int
		slots := draw(2, 14)
		for range slots {
			of = append(of, max(0, draw(-4, 1)))
		}
		work := draw(1, slots*chunks)
		checkExact(t, bareSearch(tables, of, job, work), job, work, &counts)
	}
	t.Logf("%+v", counts)
	if counts.prefixes < 400 || counts.closed < counts.prefixes*8/10 {
		t.Errorf("%+v: too few closed by bounds", counts)
	}
}
