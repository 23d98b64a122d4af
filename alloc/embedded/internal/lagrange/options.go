// This file evaluates at prices which of its options an application takes, H of [Program §4].

package lagrange

import (
	"math"

	"github.com/apportion/apportion/alloc/solver"
)

// WithOptions makes d, of an instance with every option apart, bound the solutions that use one option of each choice:
// free_i is then that of the best option, and the others have nothing. There are no nodes with options: Decide must not
// be called.
func (d *Dual) WithOptions(choices []solver.Choice) {
	// What an application with options brings is kept at the position of its head; the other options are evaluated with it.
	d.choices, d.inChoice, d.others = choices, make([]bool, len(d.Problem.Apps)), make([][]int32, len(d.Problem.Apps))
	for c := range choices {
		head := d.Head(c)
		for _, i := range choices[c].Apps {
			d.inChoice[i] = true
			if int32(i) != head {
				d.others[head] = append(d.others[head], int32(i))
			}
		}
	}
}

// Head returns the option of choice c that runs, or its first one: what its free and keep are kept for. Only an option that
// runs can stay, so that one entry says all about keeping. O(options).
func (d *Dual) Head(c int) int32 {
	apps := d.choices[c].Apps
	for _, i := range apps {
		if d.Problem.Inst.Apps[i].Running {
			return int32(i)
		}
	}
	return int32(apps[0])
}

// Gain returns what option i brings at the prices evaluated last with the count that is best for it, beside what the
// application has without containers; -Inf where it can have none.
// x must be those prices: only lambda is read from it, and the others are in the steps.
func (d *Dual) Gain(x []float64, i int32) float64 {
	_, value := d.some(x, i)
	return value - d.none(x, i)
}

// none is what application i brings without containers: its Idle, less what it loses then.
func (d *Dual) none(x []float64, i int32) float64 {
	return d.Problem.Inst.Apps[i].Extra(0) - float64(d.lossPrice(x)*d.Problem.Loss(i, 0))
}

// some is best among the counts above 0; 0 and -Inf where it can have none of them.
func (d *Dual) some(x []float64, i int32) (int64, float64) {
	// The minimum is raised for the time of one evaluation, so that best need not know of options. A Dual serves one
	// goroutine, and the Problem is not shared with others meanwhile.
	a := &d.Problem.Apps[i]
	least := a.Min
	a.Min = max(1, least)
	n, value := int64(0), math.Inf(-1)
	if a.Min <= a.Max {
		n, value = d.best(x, i)
	}
	a.Min = least
	return n, value
}

// chooseOptions sets the count of every option, of which one in each choice has containers at most, and returns what
// they bring: with those that may stay as they are, which are candidates for F*. With none_o what option o brings without
// containers, and some_o at best with some,
//
//	free = sum_o none_o + max over o of some_o - none_o, or 0 where the application need not run
//	keep = sum of none_o of the others + keep of the one that runs
//
// as every option is an entry that loses and is worth what it does without containers, and the instance apart takes that off
// again once. O(options x evaluations of best).
// It runs after all other applications have their terms and before choose, to which it adds the scores
// of those that may stay.
func (d *Dual) chooseOptions(x []float64) float64 {
	var sum float64
	for c := range d.choices {
		choice, head := &d.choices[c], d.Head(c)
		nothing, most, at, count := 0.0, math.Inf(-1), int32(-1), int64(0)
		for _, app := range choice.Apps {
			i := int32(app)
			none := d.none(x, i)
			n, value := d.some(x, i)
			nothing += none
			if d.count[i] = 0; value-none > most {
				most, at, count = value-none, i, n
			}
		}
		// Nothing beats the options that lose, unless one of them must be in use.
		if !choice.Required && most < 0 {
			most, at = 0, -1
		}
		if at >= 0 {
			d.count[at] = count
		}
		// Who cannot stay has no score, as in Evaluate.
		if d.Free[head] = nothing + most; !d.Problem.Apps[head].Pinnable {
			sum += d.Free[head]
			d.useFree(head, d.slope)
			continue
		}
		d.Keep[head] = nothing - d.none(x, head) + d.keepValue(x, head)
		sum += d.Keep[head]
		d.add(head, d.Free[head]-d.Keep[head])
	}
	return sum
}
