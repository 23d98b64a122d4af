// This file tests the checks that every package shares.

package check_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/must"
)

const maxInt = math.MaxInt64

// messages returns the text of every fault in err.
func messages(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestTotal(t *testing.T) {
	servers := func(capacities ...apportion.Resources) []apportion.Server {
		list := make([]apportion.Server, len(capacities))
		for j, capacity := range capacities {
			list[j].Capacity = capacity
		}
		return list
	}
	for _, test := range []struct {
		name    string
		servers []apportion.Server
		want    apportion.Resources
		err     error
	}{
		{"none", nil, apportion.Resources{0, 0}, nil},
		{"sum", servers(apportion.Resources{4, 1}, apportion.Resources{0, 0}, apportion.Resources{5, 0}), apportion.Resources{9, 1}, nil},
		{"to the brim", servers(apportion.Resources{maxInt - 1, 0}, apportion.Resources{1, 0}), apportion.Resources{maxInt, 0}, nil},
		{"over it", servers(apportion.Resources{1, maxInt}, apportion.Resources{1, 1}), nil, apportion.ErrOverflow},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := check.Total(test.servers, 2)
			if diff := cmp.Diff(test.want, got); diff != "" || !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v; total (-want +got):\n%s", err, test.err, diff)
			}
		})
	}
}

func TestServers(t *testing.T) {
	kinds := apportion.Kinds{"cpu", "gpu"}
	for _, test := range []struct {
		name    string
		servers []apportion.Server
		want    []string
	}{
		{"right", []apportion.Server{{ID: "a", Capacity: apportion.Resources{4, 1}}, {ID: "a/b", Capacity: apportion.Resources{0, 0}}}, nil},
		{"none", nil, []string{"Servers is empty"}},
		{
			"ids", []apportion.Server{{Capacity: apportion.Resources{1, 1}}, {ID: "a", Capacity: apportion.Resources{1, 1}}, {Capacity: apportion.Resources{1, 1}}, {ID: "a", Capacity: apportion.Resources{1, 1}}},
			[]string{"server 0: ID is empty", "server 2: ID is empty", `server "a": ID is there twice: "a"`},
		},
		{
			"capacities", []apportion.Server{{ID: "a"}, {ID: "b", Capacity: apportion.Resources{1, 2, 3}}, {ID: "c", Capacity: apportion.Resources{-1, -2}}},
			[]string{
				`server "a": Capacity has the wrong length: 0 quantities for 2 kinds`,
				`server "b": Capacity has the wrong length: 3 quantities for 2 kinds`,
				`server "c": Capacity[cpu] is negative: -1`,
				`server "c": Capacity[gpu] is negative: -2`,
			},
		},
		{
			"sum", []apportion.Server{{ID: "a", Capacity: apportion.Resources{maxInt, 0}}, {ID: "b", Capacity: apportion.Resources{1, 0}}},
			[]string{"Servers overflows int64: the capacities of all servers together"},
		},
		{
			"sum of servers that are wrong by themselves", []apportion.Server{{ID: "a", Capacity: apportion.Resources{maxInt, 0}}, {ID: "a", Capacity: apportion.Resources{1, 0}}},
			[]string{`server "a": ID is there twice: "a"`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var faults apportion.Faults
			check.Servers(&faults, kinds, test.servers)
			must.Equal(t, cmp.Diff(test.want, messages(faults.Err())), "", "faults")
		})
	}
}

func TestServersAfterOtherFaults(t *testing.T) {
	var faults apportion.Faults
	faults.Add(apportion.Item{}, "Theta1", apportion.ErrRange, "2")
	check.Servers(&faults, apportion.Kinds{"cpu"}, []apportion.Server{{ID: "a", Capacity: apportion.Resources{maxInt}}, {ID: "b", Capacity: apportion.Resources{1}}})
	want := []string{"Theta1 is out of range: 2", "Servers overflows int64: the capacities of all servers together"}
	must.Equal(t, cmp.Diff(want, messages(faults.Err())), "", "faults")
}

func TestWeight(t *testing.T) {
	for _, test := range []struct {
		weight float64
		want   []string
	}{
		{1, nil},
		{1e-300, nil},
		{math.SmallestNonzeroFloat64, nil},
		{math.MaxFloat64, nil},
		{0, []string{`claim "a": Weight is out of range: 0 is not positive`}},
		{math.Copysign(0, -1), []string{`claim "a": Weight is out of range: -0 is not positive`}},
		{-2.5, []string{`claim "a": Weight is out of range: -2.5 is not positive`}},
		{math.NaN(), []string{`claim "a": Weight is not a finite number: NaN`}},
		{math.Inf(1), []string{`claim "a": Weight is not a finite number: +Inf`}},
		{math.Inf(-1), []string{`claim "a": Weight is not a finite number: -Inf`}},
	} {
		var faults apportion.Faults
		check.Weight(&faults, test.weight, check.Item("claim", "a", 0))
		must.Equal(t, cmp.Diff(test.want, messages(faults.Err())), "", "weight", test.weight, "faults")
	}
}

// TestID: a name is text, and there once.
func TestID(t *testing.T) {
	var faults apportion.Faults
	seen := map[string]bool{}
	for i, id := range []string{"a", "team/a", "größe 模型", "..", "a", "", "a\nb", "a\x00", "a\u0085", "a\xff"} {
		check.ID(&faults, seen, id, check.Item("job", "", i))
	}
	want := []string{
		`job 4: ID is there twice: "a"`,
		`job 5: ID is empty`,
		`job 6: ID is out of range: "a\nb" is not UTF-8, or has a control character`,
		`job 7: ID is out of range: "a\x00" is not UTF-8, or has a control character`,
		`job 8: ID is out of range: "a\u0085" is not UTF-8, or has a control character`,
		`job 9: ID is out of range: "a\xff" is not UTF-8, or has a control character`,
	}
	must.Equal(t, cmp.Diff(want, messages(faults.Err())), "", "faults")
}
