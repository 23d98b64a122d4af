// This file tests the names of the models.

package speedup

import (
	"encoding/json"
	"testing"
)

func TestModelText(t *testing.T) {
	for m := Auto; m <= Table; m++ {
		text, err := json.Marshal(m)
		var read Model
		if err != nil || json.Unmarshal(text, &read) != nil || read != m || string(text) != `"`+m.String()+`"` {
			t.Errorf("%d: %s, %v, %v", m, text, read, err)
		}
	}
	if _, err := json.Marshal(Model(99)); err == nil || Model(99).String() != "unknown 99" {
		t.Errorf("%v, %v", Model(99), err)
	}
}
