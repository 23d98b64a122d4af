package strictjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
)

// BenchmarkUnmarshal reads a problem beside what encoding/json takes for it, and one of which every
// application has two faults.
func BenchmarkUnmarshal(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		text := func(application string) []byte {
			all := strings.TrimSuffix(strings.Repeat(application+",\n", n), ",\n")
			return []byte(`{"kinds":["cpu","gpu"],"servers":[{"id":"s","capacity":[4,1]}],"theta1":0,"theta2":0,"applications":[` + all + `]}`)
		}
		right, wrong := text(`{"id":"a","demand":[1,0],"min":1,"max":3}`), text(`{"id":"a","demand":[1,"0"],"min":1,"mac":3}`)
		for name, read := range map[string]func() error{
			"json":   func() error { return json.Unmarshal(right, new(alloc.Problem)) },
			"strict": func() error { return strictjson.Unmarshal(right, new(alloc.Problem), nil) },
			"faults": func() error { return strictjson.Unmarshal(wrong, new(alloc.Problem), nil) },
		} {
			b.Run(fmt.Sprintf("read=%s/applications=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := read(); (err == nil) == (name == "faults") {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
