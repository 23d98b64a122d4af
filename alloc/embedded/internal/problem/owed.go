// This file says what changes cost of applications that may grow for nothing, [Program §16].

package problem

// Owed returns what n containers of the only member of type t take from Spend where it is free: nothing above its FreeAbove.
func (p *Problem) Owed(t int32, n int64) int64 {
	demanded := &p.Types[t]
	if demanded.Own == nil || demanded.Own.CostOf(n) == 0 {
		return 0
	}
	return p.Apps[demanded.Members[0]].Owed
}
