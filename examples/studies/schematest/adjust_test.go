// This file holds a stream of "apportion adjust" to its schemas, and its first line to its reader.

package schematest

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestAdjust(t *testing.T) {
	bin := build(t)
	adjust := func(text string) (out string, bad *failure) {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(bin, "adjust", "-journal", t.TempDir())
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &stdout, &stderr
		if cmd.Run() != nil {
			bad = &failure{}
			must.Do(t, json.Unmarshal(stderr.Bytes(), bad), &stderr)
		}
		return stdout.String(), bad
	}
	head := `{"kinds":["cpu"],"limit":1,"retries":2,"restarts":3,"keep":2,"timeout":1.5,"room":2}`
	input := head + `
{"event":"server-up","server":{"id":"n","capacity":[4]},"incarnation":"x"}
{"event":"submit","job":"a","demand":[1],"min":2}
{"event":"adjust","totals":{"a":2}}
{"event":"tick","now":"2026-01-02T03:04:05Z"}
{"event":"adjust","targets":{"nobody":["n"]},"deadline":"2026-01-02T03:04:05Z"}
{"event":"reply","id":3,"job":"a","outcome":"failed","detail":"why not","step":-1}
{"event":"drain","id":"n","over":true}
{"event":"cancel","job":"a"}
`
	out, bad := adjust(input)
	if bad != nil || strings.Count(out, "\n") != strings.Count(input, "\n") || strings.Count(out, `"error":{`) != 1 {
		t.Fatalf("%+v: %s", bad, out)
	}
	checkStream(t, "adjust", input, out, true)
	agree(t, "adjust.header.json", head, func(text string) *failure {
		_, bad := adjust(oneLine(text))
		return bad
	})
}
