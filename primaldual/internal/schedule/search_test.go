// This file tests that the two methods find the same payoff, and the same completion, on tables that no
// market need ever have.

package schedule

import (
	"math"
	"slices"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// listed is a source of tables that are known; equal neighbours share one.
type listed struct {
	tables [][]float64
	next   int
	last   int // table of the slot before
}

func (l *listed) Add(tables *Tables, budget float64) bool {
	table := l.tables[l.next]
	l.next++
	if l.next > 1 && slices.Equal(table, l.tables[l.next-2]) {
		tables.Repeat(l.last)
		return false
	}
	for _, cost := range table {
		if cost >= budget {
			break
		}
		tables.Push(cost)
	}
	l.last = tables.Close()
	return true
}

// drawProblem draws tables with jumps, and a job whose worth falls over them by a little.
func drawProblem(draw func(low, high int) int) (*Problem, [][]float64) {
	slots := draw(1, 6)
	steps := []float64{0, 0.25, 0.5, 1, 1, 2, 5}
	var tables [][]float64
	most := 1
	for range slots {
		table := []float64{0}
		for range draw(0, 5) {
			table = append(table, table[len(table)-1]+steps[draw(0, len(steps)-1)])
		}
		most = max(most, len(table)-1)
		tables = append(tables, table)
	}
	p := &Problem{Work: int64(draw(1, slots*most)), Servers: ratio{2, 5}}
	p.Shortest = int((p.Work + int64(most) - 1) / int64(most))
	value := float64(draw(slots, 30))
	for range slots {
		p.Values = append(p.Values, value)
		value = max(0.5, value-steps[draw(0, len(steps)-2)])
	}
	return p, tables
}

// best returns the greatest payoff by enumeration of every schedule, and the earliest completion that has it.
// Slots that cost the budget or more are left out.
func best(p *Problem, tables [][]float64, budget float64) (payoff float64, last int) {
	payoff, last = math.Inf(-1), -1
	var walk func(s int, left int64, cost float64)
	walk = func(s int, left int64, cost float64) {
		if s == len(tables) {
			return
		}
		for y, c := range tables[s] {
			switch rest := left - int64(y); {
			case c >= budget:
				return
			case rest > 0:
				walk(s+1, rest, cost+c)
			case p.Values[s]-cost-c > payoff+1e-9, p.Values[s]-cost-c > payoff-1e-9 && s < last:
				payoff, last = max(payoff, p.Values[s]-cost-c), s
			}
		}
	}
	walk(0, p.Work, 0)
	return payoff, last
}

func TestFind(t *testing.T) {
	for seed := range uint64(3000) {
		p, tables := drawProblem(fromSeed(seed))
		payoff, last := best(p, tables, inf)
		near, affordable := best(p, tables, p.best())
		for _, plain := range []bool{false, true} {
			b := &Search{Plain: plain, Limit: DefaultMaxCells}
			got, err := b.Find(p, &listed{tables: tables})
			switch {
			case err != nil:
				t.Fatal(err)
			case (got.Status == Best) != (payoff > 1e-9):
				t.Fatalf("plain %v: %+v, the greatest payoff is %g", plain, got, payoff)
			case got.Status == Unreached && (affordable >= 0 || plain && last >= 0):
				t.Fatalf("plain %v: unreached, but ends in slot %d", plain, last)
			case got.Status == Best && got.Last != last:
				t.Fatalf("plain %v: %+v, want completion %d", plain, got, last)
			case got.Status == TooDear && got.Value-got.Cost < near-1e-9:
				t.Fatalf("plain %v: the closest miss is %+v, below %g", plain, got, near)
			case got.Status != Best:
				continue
			}
			done, cost := int64(0), 0.0
			for s, y := range got.Units {
				done, cost = done+y, cost+b.Tables.Of(s)[y]
			}
			if done < p.Work || math.Abs(got.Value-cost-payoff) > 1e-9 {
				t.Fatalf("plain %v: %+v do %d of %d for %g, want payoff %g", plain, got, done, p.Work, cost, payoff)
			}
		}
	}
}

// The plain dynamic program takes over where reduced costs leave too much open, from the first completion on
// and after one has been chosen.
func TestRest(t *testing.T) {
	for seed := range uint64(1000) {
		p, tables := drawProblem(fromSeed(seed))
		b := &Search{Limit: DefaultMaxCells}
		want := must.Have(b.Find(p, &listed{tables: tables}))(t)
		if want.Status != Best {
			continue
		}
		b.collect(p, &listed{tables: tables})
		b.rank(p)
		first, err := b.rest(p, 0, -1)
		if err != nil || first.Status != Best || first.Last != want.Last {
			t.Fatalf("%+v, %v, want %+v", first, err, want)
		}
		second, err := b.rest(p, len(b.orders)-1, first.Last)
		if err != nil || second.Last != first.Last || second.Value != first.Value {
			t.Fatalf("%+v, %v, then %+v", first, err, second)
		}
		b.Limit = 1
		must.Fail(b.rest(p, 0, -1))(t, ErrTooLarge, "limit 1")
	}
}
