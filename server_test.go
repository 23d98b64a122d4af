// This file tests Server, its JSON form, and the checks that every package shares.

package apportion_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
)

func TestServerJSON(t *testing.T) {
	server := apportion.Server{ID: "a", Capacity: apportion.Resources{1, maxInt}}
	text, err := json.Marshal(server)
	if want := `{"id":"a","capacity":[1,9223372036854775807]}`; err != nil || string(text) != want {
		t.Fatalf("Marshal = %s, %v, want %s", text, err, want)
	}
	var back apportion.Server
	if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(back, server) {
		t.Errorf("Unmarshal = %v, %v, want %v", back, err, server)
	}
}
