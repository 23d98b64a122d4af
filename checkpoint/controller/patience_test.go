// This file tests how long a controller waits before it asks for the same again.

package controller

import (
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	p := patience{first: time.Second}
	one, other := map[string][]string{"a": {"n1"}}, map[string][]string{"a": {"n2"}}
	for i, c := range []struct {
		targets map[string][]string
		want    time.Duration
	}{
		{one, time.Second}, {one, 2 * time.Second}, {map[string][]string{"a": {"n1"}}, 4 * time.Second}, {nil, 4 * time.Second},
		{one, 8 * time.Second}, {one, 16 * time.Second}, {one, maxPause}, {one, maxPause}, {other, time.Second}, {one, time.Second},
	} {
		if got := p.after(c.targets); got != c.want {
			t.Errorf("%d: %v after %v, want %v", i, got, c.targets, c.want)
		}
	}
}
