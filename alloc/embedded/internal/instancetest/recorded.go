// This file reads the decisions that were recorded.

package instancetest

import (
	"embed"
	"encoding/json"

	"github.com/apportion/apportion/alloc/solver"
)

// decisions is embedded, so that it is found from whatever directory a test of another package runs in.
//
//go:embed testdata
var decisions embed.FS

// Recorded returns a decision of [Dorm]'s evaluation on its 20 servers: "scarce" or "fifth".
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
