// This file draws random values of any type by reflection.

package jsontest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/primaldual"
)

// drawer draws values. Numbers are finite unless infinite is set.
type drawer struct {
	t        *rapid.T
	infinite bool
	depth    int
}

// special draws the types of which not every value is legal; nil: every value is.
func (d *drawer) special(rt reflect.Type) any {
	switch rt {
	case reflect.TypeFor[primaldual.Utility]():
		if d.infinite {
			return primaldual.Constant(1) // the numbers of a utility are finite
		}
		choices := []any{
			primaldual.Sigmoid{Gamma1: d.float(), Gamma2: d.float(), Gamma3: d.float()}, primaldual.Constant(d.float()),
			primaldual.Linear{Start: d.float(), PerSlot: d.float()}, primaldual.Steps{{Within: 2, Value: d.float()}, {Within: 7, Value: d.float()}},
		}
		return rapid.SampledFrom(choices).Draw(d.t, "utility")
	case reflect.TypeFor[json.RawMessage]():
		return json.RawMessage(rapid.SampledFrom([]string{`7`, `"a"`, `{"a":[1,null]}`}).Draw(d.t, "text"))
	case reflect.TypeFor[time.Time]():
		return time.Unix(rapid.Int64Range(0, 1<<33).Draw(d.t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(d.t, "nanoseconds")).UTC()
	case reflect.TypeFor[command.Reading]():
		value := rapid.SampledFrom([]float64{0, 1.5, math.NaN()}).Draw(d.t, "value") // NaN: none
		return command.Reading{Step: rapid.Int64Range(0, 1<<50).Draw(d.t, "step"), Value: value, Done: rapid.Bool().Draw(d.t, "done")}
	case reflect.TypeFor[checkpoint.Action]():
		return rapid.SampledFrom([]checkpoint.Action{checkpoint.Save, checkpoint.Stop, checkpoint.Prune}).Draw(d.t, "action")
	case reflect.TypeFor[checkpoint.Outcome]():
		return rapid.SampledFrom([]checkpoint.Outcome{checkpoint.Done, checkpoint.Fenced}).Draw(d.t, "outcome")
	case reflect.TypeFor[checkpoint.Phase]():
		return rapid.SampledFrom([]checkpoint.Phase{checkpoint.Idle, checkpoint.Running, checkpoint.Ended}).Draw(d.t, "phase")
	case reflect.TypeFor[checkpoint.Ending]():
		return rapid.SampledFrom([]checkpoint.Ending{checkpoint.Completed, checkpoint.Cancelled}).Draw(d.t, "ending")
	}
	return nil
}

// value draws a value of a type.
func (d *drawer) value(rt reflect.Type) reflect.Value {
	v := reflect.New(rt).Elem()
	if drawn := d.special(rt); drawn != nil {
		v.Set(reflect.ValueOf(drawn))
		return v
	}
	if texts := values(rt); texts != nil {
		v.Set(rapid.SampledFrom(texts).Draw(d.t, rt.Name()))
		return v
	}
	d.depth++
	defer func() { d.depth-- }()
	d.fill(v)
	return v
}

// fill draws what v holds, by its kind.
func (d *drawer) fill(v reflect.Value) {
	rt := v.Type()
	switch rt.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(d.t, "bool"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64Range(math.MinInt64>>(64-rt.Bits()), math.MaxInt64>>(64-rt.Bits())).Draw(d.t, "int"))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, math.MaxUint64>>(64-rt.Bits())).Draw(d.t, "uint"))
	case reflect.Float64:
		v.SetFloat(d.float())
	case reflect.String:
		v.SetString(rapid.StringN(0, 4, -1).Draw(d.t, "string"))
	case reflect.Struct:
		for i := range rt.NumField() {
			if rt.Field(i).IsExported() {
				v.Field(i).Set(d.value(rt.Field(i).Type))
			}
		}
	case reflect.Slice:
		for range d.length() {
			v.Set(reflect.Append(v, d.value(rt.Elem())))
		}
	case reflect.Array:
		for i := range rt.Len() {
			v.Index(i).Set(d.value(rt.Elem()))
		}
	case reflect.Map:
		n := d.length()
		if n > 0 {
			v.Set(reflect.MakeMap(rt))
		}
		for range n {
			v.SetMapIndex(d.value(rt.Key()), d.value(rt.Elem()))
		}
	case reflect.Pointer:
		if d.length() > 0 {
			v.Set(reflect.New(rt.Elem()))
			v.Elem().Set(d.value(rt.Elem()))
		}
	default:
		panic(fmt.Sprintf("jsontest: no values of %v: list the type in special or in exempt", rt))
	}
}

// length draws the length of a list; deep lists are short.
func (d *drawer) length() int { return rapid.IntRange(0, max(0, 4-d.depth)).Draw(d.t, "length") }

func (d *drawer) float() float64 {
	if d.infinite {
		return rapid.SampledFrom([]float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, 1.5}).Draw(d.t, "float")
	}
	return rapid.OneOf(rapid.Float64(), rapid.Float64Range(-10, 10)).Draw(d.t, "float")
}

// values lists the values of an enumeration: a type of integers of which some have a text. Other types
// have none.
func values(rt reflect.Type) []reflect.Value {
	if !rt.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || rt.Kind() == reflect.Struct {
		return nil
	}
	var list []reflect.Value
	for n := range int64(64) {
		v := reflect.New(rt).Elem()
		switch {
		case v.CanInt():
			v.SetInt(n)
		case v.CanUint():
			v.SetUint(uint64(n))
		default:
			return nil
		}
		if _, err := v.Interface().(encoding.TextMarshaler).MarshalText(); err == nil {
			list = append(list, v)
		}
	}
	return list
}
