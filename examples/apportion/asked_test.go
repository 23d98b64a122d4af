package main

import (
	"strings"
	"testing"
)

// A record is asked about as its problem is; what it lacks is listed, and what cannot be understood is refused.
func TestRecordsAreAsked(t *testing.T) {
	record := recorded(t, `{"kinds": ["gpu"], "theta1": 1, "theta2": 1, "servers": [{"id": "one", "capacity": [4]}, {"id": "two", "capacity": [4]}],
		"applications": [{"id": "a", "demand": [4], "max": 1, "min": 1}, {"id": "big", "demand": [5], "max": 1, "min": 1}]}`)
	for _, c := range []struct {
		name, record string
		code         int
		want, errs   string
	}{
		{"whole", record, answered, "Both servers are too small", ""},
		{"of another time", altered(t, record, 1.0, "version"), answered, "Both servers are too small", ""},
		{"newer", altered(t, record, 99.0, "version"), failed, "", "version"},
		{"with a field of its own", altered(t, record, "red", "colour"), answered, "Both servers", "no record has it"},
		{"half written", record[:len(record)/2], failed, "", ""},
		{"without a server's capacity", strings.Replace(record, `"capacity"`, `"capacities"`, 1), failed, "", "capacities"},
	} {
		code, out, errs := call(t, c.record, "why", "-job", "big")
		if code != c.code || !strings.Contains(out, c.want) || !strings.Contains(errs, c.errs) || c.code == failed && errs == "" {
			t.Errorf("%s: exit %d, %s%s", c.name, code, out, errs)
		}
	}
	if code, out, errs := call(t, record, "what-if", "-drain", "one", "-set", "theta2=0.2", "-end", "a"); code != answered || !strings.Contains(out, `"drained: one"`) || errs != "" {
		t.Errorf("what-if: exit %d, %s%s", code, out, errs)
	}
}
