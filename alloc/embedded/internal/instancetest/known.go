// This file reads instances that were recorded: hard decisions of long days, and half-empty clusters.

package instancetest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"io"

	"github.com/apportion/apportion/alloc/solver"
)

// Known is an instance, and the best utilization known when it was stored.
// Objective is a lower bound of the optimum: a test may ask for at least as much, and better is no fault.
type Known struct {
	Name      string
	Instance  *solver.Instance
	Objective float64
}

// Decisions returns decisions of the long days of [Dorm]'s evaluation that the solver finds hard: with a gap
// left, or proven late. They were recorded with its default effort.
func Decisions() []Known { return read("decisions") }

// HalfEmpty returns clusters in states that an evaluation hardly meets: half of the applications gone, grown
// by new servers, or with a loss budget just above the least possible loss. Their utilizations are those of
// HiGHS 1.15 after 40 s.
func HalfEmpty() []Known { return read("halfempty") }

// decisions is embedded, so that it is found from whatever directory a test of another package runs in.
//
//go:embed testdata
var decisions embed.FS

// Recorded returns a decision of [Dorm]'s evaluation on its 20 servers: "scarce" or "fifth"; or "jumps", 30 applications that have 1, 2, 4, 8,
// 16 or 32 containers each on 20 servers that differ, within a loss budget that binds.
func Recorded(name string) *solver.Instance {
	data, err := decisions.ReadFile("testdata/" + name + ".json")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	inst := &solver.Instance{}
	if err := json.Unmarshal(data, inst); err != nil {
		panic(err)
	}
	charge(inst)
	return inst
}

// The files hold one JSON object a line, packed: unpacked they would be most of the repository's test data.
func read(name string) []Known {
	packed, err := decisions.ReadFile("testdata/" + name + ".jsonl.gz")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	var all []Known
	// A decoder on the stream reads one object after the other, so that not all of them are in memory as text.
	for decoder := json.NewDecoder(unpacked); ; {
		var known Known
		switch err := decoder.Decode(&known); err {
		case nil:
			charge(known.Instance)
			all = append(all, known)
		case io.EOF:
			return all
		default:
			panic(err)
		}
	}
}

// charge sets what a change costs: the files were written when every change cost the same, and do not say so.
func charge(inst *solver.Instance) {
	for i := range inst.Apps {
		inst.Apps[i].Cost = 1
	}
}
