package strictjson_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// A caller learns all faults at once, each with its line, and those of the whole behind those of the text.
func ExampleDecode() {
	text := `{
  "kinds": ["gpu"],
  "servers": [{"id": "node-1", "capacity": [4]}],
  "applications": [
    {"id": "bert", "demand": [1], "max": "4"},
    {"id": "gru", "demand": [1, 2], "maximum": 3, "max": 3}
  ],
  "theta1": 0.1, "theta2": 2
}`
	var problem alloc.Problem
	err := strictjson.Decode(strings.NewReader(text), &problem, &strictjson.Options{Validate: problem.Validate})
	var faults *strictjson.Error
	if errors.As(err, &faults) {
		for i, fault := range faults.Faults {
			fmt.Println("line", faults.Lines[i], fault)
		}
	}
	// Output:
	// line 5 application "bert": max has the wrong type: a string, not a whole number
	// line 6 application "gru": maximum is unknown
	// line 0 application "gru": demand has the wrong length: 2 quantities for 1 kinds
	// line 0 theta2 is out of range: 2 is not in [0, 1]
}
