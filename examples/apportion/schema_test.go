// This file holds the schemas against the reading: whatever is changed in a right input, both agree
// on what is unknown, missing or of the wrong type.

package main

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
)

const (
	fullDRF = `{"kinds":["cpu","gpu"],"capacity":[4,1],"filling":"whole",
		"claims":[{"id":"a","demand":[1,0],"weight":2,"min":1,"max":3},{"id":"b","demand":[1,1]}]}`
	fullDorm = `{"kinds":["cpu"],"servers":[{"id":"s","capacity":[4]},{"id":"t","capacity":[0]}],
		"applications":[{"id":"a","executor":"x","demand":[1],"weight":2,"min":1,"max":3,"start":["s"],"resume":["r","-x"]}],
		"previous":{"a":{"s":1}},"theta1":1,"theta2":0.5,
		"options":{"share":"whole","no_ceil_15":true,"no_ceil_16":false,"admit_prefix":true,"displace":true}}`
)

const (
	fullOASiS = `{"kinds":["cpu"],"slots":2,"worker_servers":[{"id":"w","capacity":[4]}],"ps_servers":[{"id":"p","capacity":[2]}],`
	fullJob   = `{"id":"a","arrival":1,"epochs":1,"chunks":2,"minibatches":1,"minibatch_slots":1,"comm_slots":0,
		"worker_bandwidth":1,"ps_bandwidth":2,"worker":[1],"ps":[1],"utility":`
	fullFlowCon = `{"kinds":["cpu","gpu"],"interval":10,"alpha":0.1,"options":{"normalization":"raw","classifier":"prospect","confidence":2,
		"steering":"gpu","beta":3,"max_interval":20,"min_interval":1,"bound_converged_only":true}}`
	fullSpeCon = `{"kinds":["cpu"],"workers":[{"id":"w","capacity":[4]}],"interval":10,"alpha":0.1,"options":{"normalization":"raw",
		"classifier":"decline","confidence":2,"steering":"cpu","separate":true,"at_entry":true,"weights":[4,2,1],"ignore_room":true,
		"rebalance":false,"rebalance_literal":true,"rebalance_ceiling":true}}`
)

// line returns the only line of a text as newLines reads it.
func line(text string) *lines {
	l := newLines(strings.NewReader(strings.ReplaceAll(text, "\n", "")))
	_ = l.next() // an empty text is an empty line
	return l
}

func TestSchemasAgreeWithReader(t *testing.T) {
	oasisFirst := func(text string) error { _, err := readOASiSHeader(line(text)); return err }
	oasisLater := func(text string) error { _, err := readOASiSEvent(line(text), apportion.Kinds{"cpu"}); return err }
	monitored := func(placed bool) func(string) error {
		form := &monitorForm{kinds: apportion.Kinds{"cpu"}, placed: placed}
		return func(text string) error { _, err := form.event(line(text)); return err }
	}
	for _, test := range []struct {
		schema, text string
		read         func(text string) error
	}{
		{"drf.input.json", fullDRF, func(text string) error { _, err := readDRF(strings.NewReader(text)); return err }},
		{"dorm.input.json", fullDorm, func(text string) error { _, err := readProblem(strings.NewReader(text)); return err }},
		{"oasis.header.json", fullOASiS + `"bounds":{"U_worker":2,"L_worker":[1],"U_ps":[2],"L_ps":1,"eta_worker":3,"eta_ps":4},
			"options":{"method":"chunk dp","certificate_steps":3}}`, oasisFirst},
		{"oasis.header.json", fullOASiS + `"options":{"literal":true,"eta_per_job":false,"raw_units":true,"l_floor_eps":0.1,
			"l_scale":2,"u_scale":2,"reached":5,"rolling":true}}`, oasisFirst},
		{"oasis.input.json", fullJob + `{"sigmoid":[1,2,3]}}`, oasisLater},
		{"oasis.input.json", fullJob + `{"constant":1}}`, oasisLater},
		{"oasis.input.json", fullJob + `{"linear":[1,2]}}`, oasisLater},
		{"oasis.input.json", fullJob + `{"steps":[[0,2],[3,1]]}}`, oasisLater},
		{"oasis.input.json", `{"advance":2}`, oasisLater},
		{"oasis.input.json", `{"cancel":"a"}`, oasisLater},
		{"oasis.input.json", `{"complete":"a","slot":1}`, oasisLater},
		{"oasis.input.json", `{"fail":"w","slot":1}`, oasisLater},
		{"oasis.input.json", `{"repair":"w","slot":1}`, oasisLater},
		{"flowcon.header.json", fullFlowCon, func(text string) error { _, err := readFlowCon(line(text)); return err }},
		{"flowcon.input.json", `{"time":1,"container":"a","value":2,"usage":{"cpu":1}}`, monitored(false)},
		{"flowcon.input.json", `{"time":1,"container":"a","value":"NaN","usage":{"cpu":1}}`, monitored(false)},
		{"flowcon.input.json", `{"exit":"a"}`, monitored(false)},
		{"flowcon.input.json", `{"tick":1}`, monitored(false)},
		{"specon.header.json", fullSpeCon, func(text string) error { _, err := readSpeCon(line(text)); return err }},
		{"specon.input.json", `{"time":1,"container":"a","value":2,"usage":{"cpu":1},"worker":"w","demand":[1]}`, monitored(true)},
		{"specon.input.json", `{"exit":"a"}`, monitored(true)},
	} {
		t.Run(test.schema, func(t *testing.T) { agree(t, test.schema, test.text, test.read) })
	}
}

// agree changes a right text in many ways and compares the schema with the reading.
func agree(t *testing.T, name, right string, read func(text string) error) {
	if err := read(right); err != nil {
		t.Fatal(err)
	}
	compiled, refused := schema(t, name), 0
	if err := compiled.Validate(decode(t, right)); err != nil {
		t.Fatal(err)
	}
	variants := mutants(decode(t, right))
	for _, variant := range variants {
		text, err := json.Marshal(variant)
		if err != nil {
			t.Fatal(err)
		}
		readError := read(string(text))
		schemaError := compiled.Validate(decode(t, string(text)))
		if readError == nil && schemaError != nil {
			t.Errorf("%s\nis read, though %v", text, schemaError)
		}
		if badText(readError) && schemaError == nil {
			t.Errorf("%s\nfits the schema, though %v", text, readError)
		}
		if schemaError != nil {
			refused++
		}
	}
	if refused < len(variants)/2 {
		t.Errorf("the schema refuses %d of %d changed inputs", refused, len(variants))
	}
}

// badText reports whether err has a fault of a sort that a schema can see.
func badText(err error) bool {
	var faults apportion.Faults
	errors.As(err, &faults)
	for _, fault := range faults {
		switch {
		case strings.HasPrefix(fault.Field, "usage."): // what kinds there are the first line says
			return false
		case fault.Err == apportion.ErrUnknown && strings.HasSuffix(fault.Field, "unknown"):
			return true
		}
	}
	return errors.Is(err, errMissing) || errors.Is(err, errType) || errors.Is(err, apportion.ErrNegative)
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
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
