// This file says what an application loses by the number of servers that it is on, [Program §14].

package solver

import (
	"math"
	"strconv"

	"github.com/apportion/apportion"
)

// Spread is what an application loses by being on many servers. Nothing of it is ever negative, so that what holds of all solutions
// without it holds with it.
type Spread struct {
	// Part of what its containers are worth beyond having none is lost for each server beyond the fewest, and Least at least: finite and
	// not negative, up to MaxWorth.
	Part, Least float64
	// Lost[e] is what is lost with the number of entry e of Worth on 1, 2, ... servers, on more of them as on the last: in place of Part and
	// Least. Entries are not negative and up to MaxWorth. nil: Part and Least count.
	Lost [][]float64
	// Rooms are the servers that it may be placed on, by how many containers each holds when it is empty, the largest first.
	Rooms []Rooms
}

// Rooms are servers that hold equally many containers of an application: both are positive.
type Rooms struct{ Containers, Servers int64 }

// Torn is what a number of containers of one application loses by the servers that they are on.
type Torn struct {
	// Fewest is the fewest servers that could hold them, and Each what is lost for each one beyond.
	Fewest int64
	Each   float64
	// Lost is what is lost on 1, 2, ... servers, in place of both; nil: there is no such list.
	Lost []float64
}

// On returns what is lost on so many servers; nothing on none.
func (t *Torn) On(servers int64) float64 {
	switch {
	case servers < 1:
		return 0
	case t.Lost != nil:
		return t.Lost[min(servers, int64(len(t.Lost)))-1]
	case servers > t.Fewest:
		return float64(float64(servers-t.Fewest) * t.Each)
	}
	return 0
}

// Torn returns what n containers lose by their servers; nothing where the application may not have n. O(Rooms).
func (a *App) Torn(n int64) Torn {
	s := a.Spread
	switch {
	case s == nil || n < 1 || !a.Allows(n):
		return Torn{}
	case s.Lost != nil:
		return Torn{Lost: s.Lost[a.entry(n)]}
	}
	worth := float64(a.Value*float64(n)) + a.Extra(n) - a.Idle
	return Torn{Fewest: s.Fewest(n), Each: math.Max(0, math.Max(float64(s.Part*worth), s.Least))}
}

// Fewest returns the fewest servers that could hold n containers if they were empty; all of them where they could not. O(Rooms).
func (s *Spread) Fewest(n int64) int64 {
	servers := int64(0)
	for _, r := range s.Rooms {
		if need := n/r.Containers + min(1, n%r.Containers); need <= r.Servers {
			return servers + need
		}
		servers, n = servers+r.Servers, n-r.Servers*r.Containers
	}
	return servers
}

// tornBy returns what the application loses by being on the servers of placed.
func (a *App) tornBy(placed []apportion.Placement) float64 {
	if a.Spread == nil {
		return 0
	}
	torn := a.Torn(Containers(placed))
	return torn.On(int64(len(placed)))
}

// Kept returns what staying exactly as it is brings beside Value times its number: Extra, Stay, and what it loses by its servers.
func (a *App) Kept() float64 {
	return a.Extra(Containers(a.Previous)) + a.Stay - a.tornBy(a.Previous)
}

// checkSpread adds what is wrong with a Spread of an application whose numbers and worths have been checked.
func checkSpread(faults *apportion.Faults, app *App, item apportion.Item) {
	s := app.Spread
	if s == nil {
		return
	}
	checkLost(faults, s.Part, item, "Spread.Part")
	checkLost(faults, s.Least, item, "Spread.Least")
	last := int64(math.MaxInt64)
	for at, r := range s.Rooms {
		if r.Servers < 1 || r.Containers < 1 || r.Containers >= last {
			faults.Add(item, "Spread.Rooms["+strconv.Itoa(at)+"]", apportion.ErrRange, strconv.FormatInt(r.Containers, 10))
			return
		}
		last = r.Containers
	}
	if s.Lost != nil && (app.Worth == nil || len(s.Lost) != len(app.Worth)) {
		faults.Add(item, "Spread.Lost", apportion.ErrLength, strconv.Itoa(len(s.Lost))+" lists for "+strconv.Itoa(len(app.Worth))+" worths")
	}
	for at, lost := range s.Lost {
		field := "Spread.Lost[" + strconv.Itoa(at) + "]"
		if len(lost) == 0 {
			faults.Add(item, field, apportion.ErrEmpty, "")
		}
		for _, w := range lost {
			checkLost(faults, w, item, field)
		}
	}
}

// checkLost adds an amount that is no worth, or negative.
func checkLost(faults *apportion.Faults, w float64, item apportion.Item, field string) {
	checkAmount(faults, item, field, w)
	if w < 0 {
		faults.Add(item, field, apportion.ErrNegative, strconv.FormatFloat(w, 'g', -1, 64))
	}
}
