// This file holds the schemas against the reading: whatever is changed in a right input, both agree
// on what is unknown, missing or of the wrong type.

package schematest

import (
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/apportion/apportion/internal/must"
)

const (
	fullDRF = `{"kinds":["cpu","gpu"],"capacity":[4,1],"filling":"whole",
		"claims":[{"id":"a","demand":[1,0],"weight":2,"min":1,"max":3},{"id":"b","demand":[1,1],"queue":"r"}],
		"queues":[{"id":"q","weight":2,"guarantee":[1,0],"ceiling":[3,null]},{"id":"r","parent":"q"}]}`
	fullDorm = `{"kinds":["cpu"],"servers":[{"id":"s","capacity":[4]},{"id":"t","capacity":[0]}],
		"applications":[{"id":"a","executor":"x","demand":[1],"weight":2,"min":1,"max":3,"start":["s"],"resume":["r","-x"],"queue":"q"}],"queues":[{"id":"q","guarantee":[1],"ceiling":[null]}],
		"previous":{"a":{"s":1}},"theta1":1,"theta2":0.5,
		"options":{"share":"whole","no_ceil_15":true,"no_ceil_16":false,"admit_prefix":true,"displace":true}}`
)

// optionsDorm has an application with options, one of which has nothing beside what it must have.
const optionsDorm = `{"kinds":["v100","a100"],"servers":[{"id":"s","capacity":[4,4],"labels":{"zone":"a"}}],
	"applications":[{"id":"a","weight":2,"idle_worth":-1,"option":"new","options":[
		{"id":"old","demand":[1,0],"counts":[1,2,4],"worth":[1,1.5,2],"speed":[1,1.5,2]},
		{"id":"new","demand":[0,1],"requires":[{"key":"zone","op":"exists"}],"max":4,"min":2,"step":2,"worth":[3,4],"speed":[3,0]}]},
		{"id":"b","demand":[1,0],"max":2,"speed":[2,3.5]}],
	"previous":{"a":{"s":2}},"theta1":1,"theta2":1,"options":{"loss":"worth"}}`

const (
	fullOASiS = `{"kinds":["cpu"],"slots":2,"worker_servers":[{"id":"w","capacity":[4],"labels":{"zone":"a"}}],"ps_servers":[{"id":"p","capacity":[2]}],`
	fullJob   = `{"id":"a","arrival":1,"epochs":1,"chunks":2,"minibatches":1,"minibatch_slots":1,"comm_slots":0,
		"worker_bandwidth":1,"ps_bandwidth":2,"worker":[1],"ps":[1],"utility":`
	fullFlowCon = `{"kinds":["cpu","gpu"],"interval":10,"alpha":0.1,"options":{"normalization":"raw","classifier":"prospect","confidence":2,
		"steering":"gpu","beta":3,"max_interval":20,"min_interval":1,"bound_converged_only":true,"silence":70,
		"unmeasured_is_zero":true,"missing_is_zero":true,"bound_one_more":false}}`
	fullSpeCon = `{"kinds":["cpu"],"workers":[{"id":"w","capacity":[4]}],"interval":10,"alpha":0.1,"options":{"normalization":"raw",
		"classifier":"decline","confidence":2,"steering":"cpu","separate":true,"at_entry":true,"weights":[4,2,1],"ignore_room":true,
		"rebalance":false,"rebalance_literal":true,"rebalance_ceiling":true,"silence":70}}`
)

func TestSchemasAgreeWithReader(t *testing.T) {
	bin := build(t)
	oasis := oneLine(fullOASiS) + `"bounds":{"U_worker":2,"L_worker":1,"U_ps":2,"L_ps":1}}` + "\n"
	admitted := oasis + oneLine(fullJob) + `{"constant":100}}` + "\n"
	flowcon := `{"kinds":["cpu"],"interval":10,"alpha":0.1}` + "\n"
	const fullSim = `{"kinds":["cpu"],"servers":[{"id":"s","capacity":[4]}],"jobs":[{"id":"a","demand":[1],"weight":1,"min":1,"max":2,"arrival":1,"work":2,
		"fixed":2,"speed":[1,1.5]}],"adjust_cost":1,"horizon":9,"policy":"dorm","theta1":0.5,"theta2":0.5}`
	specon := `{"kinds":["cpu"],"workers":[{"id":"w","capacity":[4]}],"interval":10,"alpha":0.1}` + "\n"
	const small = `{"kinds":["cpu"],"servers":[{"id":"s","capacity":[4]},{"id":"t","capacity":[1]}],"applications":[{"id":"a","demand":[1],"max":4},{"id":"z","demand":[1],"max":4}],"theta1":1,"theta2":1}` + "\n"
	sample := `{"time":0,"container":"a","value":3,"usage":{"cpu":1},"worker":"w","demand":[1]}` + "\n"
	for _, test := range []struct {
		schema string
		// text fits the schema; before are the lines that stand above it.
		before, text string
	}{
		{"drf.input.json", "", fullDRF},
		{"dorm.input.json", "", fullDorm},
		{"dorm.input.json", "", optionsDorm},
		{"oasis.header.json", "", fullOASiS + `"bounds":{"U_worker":2,"L_worker":[1],"U_ps":[2],"L_ps":1,"eta_worker":3,"eta_ps":4},
			"options":{"method":"chunk dp","certificate_steps":3}}`},
		{"oasis.header.json", "", fullOASiS + `"options":{"literal":true,"eta_per_job":false,"raw_units":true,"l_floor_eps":0.1,
			"l_scale":2,"u_scale":2,"reached":5,"rolling":true}}`},
		{"oasis.input.json", oasis, fullJob + `{"sigmoid":[1,2,3]}}`},
		{"oasis.input.json", oasis, fullJob + `{"constant":1}}`},
		{"oasis.input.json", oasis, fullJob + `{"linear":[1,2]}}`},
		{"oasis.input.json", oasis, fullJob + `{"steps":[[0,2],[3,1]]}}`},
		{"oasis.input.json", oasis, `{"id":"a","arrival":1,"epochs":1,"chunks":2,"minibatches":1,"minibatch_slots":1,"worker_bandwidth":1,"ps_bandwidth":1,
			"worker":[1],"ps":[1],"worker_requires":[{"key":"zone","op":"in","values":["a"]}],"ps_requires":[{"key":"gpu","op":"not_exists"}],
			"utility":{"constant":1}}`},
		{"oasis.input.json", oasis, `{"advance":2}`},
		{"oasis.input.json", admitted, `{"cancel":"a"}`},
		{"oasis.input.json", admitted, `{"complete":"a","slot":1}`},
		{"oasis.input.json", admitted, `{"fail":"w","slot":1}`},
		{"oasis.input.json", admitted + `{"fail":"w","slot":1}` + "\n", `{"repair":"w","slot":1}`},
		{"flowcon.header.json", "", fullFlowCon},
		{"flowcon.input.json", flowcon, `{"time":1,"container":"a","value":2,"usage":{"cpu":1}}`},
		{"flowcon.input.json", flowcon, `{"time":1,"container":"a","value":"NaN","usage":{"cpu":1}}`},
		{"flowcon.input.json", flowcon + `{"time":0,"container":"a","value":3,"usage":{"cpu":1}}` + "\n", `{"exit":"a"}`},
		{"flowcon.input.json", flowcon, `{"tick":1}`},
		{"specon.header.json", "", fullSpeCon},
		{"specon.input.json", specon + sample, `{"time":1,"container":"a","value":2,"usage":{"cpu":1},"worker":"w","demand":[1]}`},
		{"specon.input.json", specon + sample, `{"exit":"a"}`},
		{"sim.header.json", "", fullSim},
		{"session.header.json", "", fullDorm},
		{"session.input.json", small, `{"changes":[{"arrive":{"id":"b","demand":[1],"max":2}},{"update":{"id":"a","demand":[1],"max":3}},{"end":"z"},
			{"join":{"id":"u","capacity":[1]}},{"cordon":"s"},{"uncordon":"s"},{"lose":"t"},{"set":{"theta1":0.5,"theta2":1,"preempt":true}}],"whole":true}`},
		{"session.input.json", small, `{"why":"a"}`},
		{"session.input.json", small, `{"what_if":[{"end":"a"}]}`},
		{"session.input.json", small, `{"show":"record"}`},
	} {
		t.Run(test.schema, func(t *testing.T) {
			t.Parallel()
			subcommand, _, _ := strings.Cut(test.schema, ".")
			agree(t, test.schema, test.text, func(text string) *failure {
				return ask(t, bin, subcommand, test.before+oneLine(text))
			})
		})
	}
}

// agree changes a right text in many ways and compares the schema with the reading.
func agree(t *testing.T, name, right string, read func(text string) *failure) {
	if err := read(right); err != nil {
		t.Fatalf("%s\nis refused: %+v", right, err)
	}
	compiled, refused := schema(t, name), 0
	must.Do(t, compiled.Validate(decode(t, right)))
	variants := mutants(decode(t, right))
	for i, variant := range variants {
		if testing.Short() && i%5 != 0 {
			continue
		}
		text := must.Have(json.Marshal(variant))(t)
		readError := read(string(text))
		schemaError := compiled.Validate(decode(t, string(text)))
		if readError == nil && schemaError != nil {
			t.Errorf("%s\nis read, though %v", text, schemaError)
		}
		if readError.badText() && schemaError == nil {
			t.Errorf("%s\nfits the schema, though %+v", text, readError)
		}
		if schemaError != nil {
			refused++
		}
	}
	if refused < len(variants)/2 && !testing.Short() {
		t.Errorf("the schema refuses %d of %d changed inputs", refused, len(variants))
	}
}

// failure is what the command prints on standard error.
type failure struct {
	Error  string
	Faults []struct{ Item, Field, Detail, Problem string }
}

// badText reports whether f has a fault of a sort that a schema can see.
func (f *failure) badText() bool {
	if f == nil {
		return false
	}
	for _, fault := range f.Faults {
		switch {
		case strings.HasPrefix(fault.Field, "usage."): // what kinds there are the first line says
		case strings.HasPrefix(fault.Field, "utility("): // a value of the function, not a field
		case fault.Problem == "is unknown" && strings.HasSuffix(fault.Field, "unknown"),
			slices.Contains([]string{"is missing", "has the wrong type", "is negative"}, fault.Problem):
			return true
		}
	}
	return false
}

// build compiles the command and returns its path.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "apportion")
	out, err := exec.Command("go", "build", "-o", bin, "github.com/apportion/apportion/examples/apportion").CombinedOutput()
	must.Do(t, err, out)
	return bin
}

// ask runs a subcommand and returns what it complains about, or nil.
func ask(t *testing.T, bin, subcommand, input string) *failure {
	t.Helper()
	var errs strings.Builder
	cmd := exec.Command(bin, subcommand)
	if slices.Contains(streams, subcommand) && subcommand != "sim" {
		cmd.Args = append(cmd.Args, "-strict") // the faults of a line are on standard error then
	}
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &errs
	if err := cmd.Run(); err == nil {
		return nil
	}
	f := new(failure)
	must.Do(t, json.Unmarshal([]byte(errs.String()), f), &errs)
	return f
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "") }

func decode(t *testing.T, text string) any {
	t.Helper()
	return must.Have(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t, "in", text)
}

// mutants returns value with one change each: something replaced, left out or added, at any depth.
func mutants(value any) []any {
	list := []any{nil, true, "x", "", -1.0, 1.5, []any{}, map[string]any{}, []any{map[string]any{}}}
	switch v := value.(type) {
	case map[string]any:
		list = append(list, with(v, "unknown", 1.0))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, without(v, key))
			for _, changed := range mutants(v[key]) {
				list = append(list, with(v, key, changed))
			}
		}
	case []any:
		for i := range v {
			for _, changed := range mutants(v[i]) {
				copied := slices.Clone(v)
				copied[i] = changed
				list = append(list, copied)
			}
		}
	}
	return list
}

func with(object map[string]any, key string, value any) map[string]any {
	changed := maps.Clone(object)
	changed[key] = value
	return changed
}

func without(object map[string]any, key string) map[string]any {
	changed := maps.Clone(object)
	delete(changed, key)
	return changed
}
