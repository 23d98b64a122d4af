// This file tests the comparison by features on problems that branch and bound settles.

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/internal/backend"
	"github.com/apportion/apportion/internal/must"
)

// Each feature is in the problems of its row, which are valid.
func TestBinding(t *testing.T) {
	for _, f := range features {
		for seed := range uint64(4) {
			p := binding(f, seed, 4, 6, seed > 1)
			must.Do(t, p.Validate(), f.name, "seed", seed)
		}
	}
}

// Small problems are answered as branch and bound answers them, whatever features they have.
func TestFeatures(t *testing.T) {
	bb := must.Have(backend.Find(backend.All(), backend.BranchAndBound))(t)
	var out bytes.Buffer
	c := contest{general: bb, limit: 5 * time.Second, seeds: 2, servers: 2, apps: 3}
	must.Do(t, c.print(t.Context(), &out, io.Discard))
	if rows := strings.Count(out.String(), "100"); rows < 2*len(features) {
		t.Errorf("%d cells of 100 %%, want two in each row:\n%s", rows, &out)
	}
}
