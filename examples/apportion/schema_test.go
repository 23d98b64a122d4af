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

func TestSchemasAgreeWithReader(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		read func(text string) error
	}{
		"drf.input.json":  {fullDRF, func(text string) error { _, err := readDRF(strings.NewReader(text)); return err }},
		"dorm.input.json": {fullDorm, func(text string) error { _, err := readProblem(strings.NewReader(text)); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.read(test.text); err != nil {
				t.Fatal(err)
			}
			compiled, refused := schema(t, name), 0
			variants := mutants(decode(t, test.text))
			for _, variant := range variants {
				text, err := json.Marshal(variant)
				if err != nil {
					t.Fatal(err)
				}
				readError := test.read(string(text))
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
		})
	}
}

// badText reports whether err has a fault of a sort that a schema can see.
func badText(err error) bool {
	var faults apportion.Faults
	errors.As(err, &faults)
	for _, fault := range faults {
		if fault.Err == apportion.ErrUnknown && strings.HasSuffix(fault.Field, "unknown") {
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
