// This file tests the price on parameter servers: it bounds from below, and finds schedules.

package schedule

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawServerTables draws slots whose costs jump where one more parameter server is needed, which is
// where hulls alone lose most.
func drawServerTables(t *rapid.T, job ratio) (tables [][]float64, of []int) {
	slots := rapid.IntRange(1, 4).Draw(t, "slots")
	worker, server := float64(rapid.IntRange(1, 4).Draw(t, "worker")), float64(rapid.IntRange(1, 9).Draw(t, "server"))
	for s := range slots {
		table := []float64{0}
		for y := int64(1); y <= int64(rapid.IntRange(1, 7).Draw(t, "most")); y++ {
			table = append(table, float64(y)*worker+float64(job.PSFor(y))*server)
		}
		tables, of = append(tables, table), append(of, s)
	}
	return tables, of
}

func TestPriceServersProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := ratio{b: rapid.Int64Range(1, 4).Draw(t, "b")}
		job.B = job.b + rapid.Int64Range(0, 9).Draw(t, "B-b")
		tables, of := drawServerTables(t, job)
		room := 0
		for _, table := range tables {
			room += len(table) - 1
		}
		work := rapid.IntRange(1, room).Draw(t, "work")
		b := bareSearch(tables, of, job, work)
		p := b.prefix(problem(job, work), len(of)-1)
		want := enumerate(p)
		m := multipliers{lambda: b.bounds[p.last].lambda, lower: b.bounds[p.last].lower}
		before := m.lower
		upper := b.trial.round(p, &b.hulls, m.lambda)
		b.workers = append(b.workers[:0], b.trial.workers...)
		upper = b.priceServers(p, &m, upper)
		if m.lower < before || m.lower > want+1e-9 {
			t.Fatalf("bound %g, before %g, the least cost is %g", m.lower, before, want)
		}
		if upper < want-1e-9 || upper < inf && math.Abs(p.cost(b.workers)-upper) > 1e-9 {
			t.Fatalf("%v cost %g, said %g; the least is %g", b.workers, p.cost(b.workers), upper, want)
		}
	})
}

// No schedule has fewer parameter servers than said.
func TestFewestServersProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := ratio{b: rapid.Int64Range(1, 4).Draw(t, "b")}
		job.B = job.b + rapid.Int64Range(0, 9).Draw(t, "B-b")
		tables, of := drawServerTables(t, job)
		for _, table := range tables {
			for y := range table { // a parameter server costs 1, all else nothing
				table[y] = float64(job.PSFor(int64(y)))
			}
		}
		work := rapid.IntRange(1, len(tables[0])+1).Draw(t, "work")
		b := bareSearch(tables, of, job, work)
		p := b.prefix(problem(job, work), len(of)-1)
		if got, want := p.fewestServers(b.Tables.distinct()), enumerate(p); float64(got) > want {
			t.Fatalf("%d parameter servers at least, %g suffice", got, want)
		}
	})
}
