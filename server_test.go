// This file tests Server, its JSON form, and the checks that every package shares.

package apportion_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

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
			got, err := apportion.Total(test.servers, 2)
			if diff := cmp.Diff(test.want, got); diff != "" || !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v; total (-want +got):\n%s", err, test.err, diff)
			}
		})
	}
}

func TestCheckServers(t *testing.T) {
	kinds := apportion.Kinds{"cpu", "gpu"}
	for _, test := range []struct {
		name    string
		servers []apportion.Server
		want    []string
	}{
		{"right", []apportion.Server{{"a", apportion.Resources{4, 1}}, {"a/b", apportion.Resources{0, 0}}}, nil},
		{"none", nil, []string{"Servers is empty"}},
		{
			"ids", []apportion.Server{{"", apportion.Resources{1, 1}}, {"a", apportion.Resources{1, 1}}, {"", apportion.Resources{1, 1}}, {"a", apportion.Resources{1, 1}}},
			[]string{"server 0: ID is empty", "server 2: ID is empty", `server "a": ID is there twice: "a"`},
		},
		{
			"capacities", []apportion.Server{{"a", nil}, {"b", apportion.Resources{1, 2, 3}}, {"c", apportion.Resources{-1, -2}}},
			[]string{
				`server "a": Capacity has the wrong length: 0 quantities for 2 kinds`,
				`server "b": Capacity has the wrong length: 3 quantities for 2 kinds`,
				`server "c": Capacity[cpu] is negative: -1`,
				`server "c": Capacity[gpu] is negative: -2`,
			},
		},
		{
			"sum", []apportion.Server{{"a", apportion.Resources{maxInt, 0}}, {"b", apportion.Resources{1, 0}}},
			[]string{"Servers overflows int64: the capacities of all servers together"},
		},
		{
			"sum of servers that are wrong by themselves", []apportion.Server{{"a", apportion.Resources{maxInt, 0}}, {"a", apportion.Resources{1, 0}}},
			[]string{`server "a": ID is there twice: "a"`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var faults apportion.Faults
			apportion.CheckServers(&faults, kinds, test.servers)
			if diff := cmp.Diff(test.want, messages(faults.Err())); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckServersAfterOtherFaults(t *testing.T) {
	var faults apportion.Faults
	faults.Add("", "Theta1", apportion.ErrRange, "2")
	apportion.CheckServers(&faults, apportion.Kinds{"cpu"}, []apportion.Server{{"a", apportion.Resources{maxInt}}, {"b", apportion.Resources{1}}})
	want := []string{"Theta1 is out of range: 2", "Servers overflows int64: the capacities of all servers together"}
	if diff := cmp.Diff(want, messages(faults.Err())); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestCheckWeight(t *testing.T) {
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
		apportion.CheckWeight(&faults, test.weight, apportion.Item("claim", "a", 0))
		if diff := cmp.Diff(test.want, messages(faults.Err())); diff != "" {
			t.Errorf("weight %g: faults (-want +got):\n%s", test.weight, diff)
		}
	}
}

func TestItem(t *testing.T) {
	for id, want := range map[string]string{"": "server 7", "a": `server "a"`, `a"b` + "\n": `server "a\"b\n"`} {
		if got := apportion.Item("server", id, 7); got != want {
			t.Errorf("Item(%q) = %s, want %s", id, got, want)
		}
	}
}

func TestServerJSON(t *testing.T) {
	server := apportion.Server{ID: "a", Capacity: apportion.Resources{1, maxInt}}
	text, err := json.Marshal(server)
	if want := `{"id":"a","capacity":[1,9223372036854775807]}`; err != nil || string(text) != want {
		t.Fatalf("Marshal = %s, %v, want %s", text, err, want)
	}
	var back apportion.Server
	if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(back, server) {
		t.Errorf("Unmarshal = %v, %v, want %v", back, err, server)
	}
}
