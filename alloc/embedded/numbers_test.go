package embedded

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/apportion/apportion/alloc/embedded/internal/tuning"
	"github.com/apportion/apportion/alloc/solver"
)

// BenchmarkNumbers prints what half and double of each number that steers the solver does to its answers, as BenchmarkAblation
// prints what each part brings. Run it with
//
//	go test -run NONE -bench Numbers/decisions/Tree.Aim -benchtime 1x -v ./alloc/embedded
//
// where the sort of judges or the number may be left out: all of them take hours.
func BenchmarkNumbers(b *testing.B) {
	known := judges()
	for _, sort := range slices.Sorted(maps.Keys(known)) {
		instances := known[sort]
		b.Run(sort, func(b *testing.B) {
			whole := make([]float64, len(instances))
			row := func(b *testing.B, what string, tune *tuning.Numbers) {
				b.Logf("%-28s %s", what, compare(instances, whole, func(inst *solver.Instance) *solver.Solution {
					return answerWith(tune, inst, true)
				}))
			}
			b.Run("standard", func(b *testing.B) {
				for b.Loop() {
					row(b, "standard", tuning.Standard())
				}
			})
			for _, name := range slices.Sorted(maps.Keys(numbers(tuning.Standard()))) {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						for _, factor := range []float64{0.5, 2} {
							tune := tuning.Standard()
							scale(numbers(tune)[name], factor)
							row(b, fmt.Sprintf("%s x %g", name, factor), tune)
						}
					}
				})
			}
		})
	}
}

// numbers returns the numbers that steer the solver, by the names of their groups and fields.
func numbers(tune *tuning.Numbers) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	groups := reflect.ValueOf(tune).Elem()
	for g := range groups.NumField() {
		for n := range groups.Field(g).NumField() {
			all[groups.Type().Field(g).Name+"."+groups.Field(g).Type().Field(n).Name] = groups.Field(g).Field(n)
		}
	}
	return all
}

// scale multiplies a number, or each of a list.
func scale(number reflect.Value, factor float64) {
	switch {
	case number.CanFloat():
		number.SetFloat(number.Float() * factor)
	case number.CanInt():
		number.SetInt(max(1, int64(float64(number.Int())*factor)))
	default:
		for i := range number.Len() {
			scale(number.Index(i), factor)
		}
	}
}
