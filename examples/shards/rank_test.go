// This file tests what counts the bytes, and which containers a target names.

package main

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apportion/apportion/checkpoint"
)

// A meter counts what is read, by however many at the same time, and nothing else: no write, no seek, no byte twice.
func TestMeter(t *testing.T) {
	var read atomic.Int64
	fsys := meter{disk(t.TempDir(), "below"), &read}
	file, err := fsys.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(bytes.Repeat([]byte("x"), 1000)); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if read.Load() != 0 {
		t.Errorf("writing counts %d", read.Load())
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			f, err := fsys.Open("a")
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if _, err := f.Seek(400, io.SeekStart); err != nil {
				t.Error(err)
			}
			if data, err := io.ReadAll(f); err != nil || len(data) != 600 {
				t.Errorf("%d bytes, %v", len(data), err)
			}
		})
	}
	readers.Wait()
	if read.Load() != 4*600 {
		t.Errorf("four who read 600 bytes count %d", read.Load())
	}
	if _, err := fsys.Open("absent"); err == nil {
		t.Error("a file that is not there is opened")
	}
}

// A target is a wish for the one job, with a container for each server in its order.
func TestTarget(t *testing.T) {
	a, ok := target("a", "c", "b").(checkpoint.Adjust)
	if !ok || len(a.Targets) != 1 || !slices.Equal(a.Targets["bert"], []string{"a", "c", "b"}) {
		t.Errorf("%+v", a)
	}
}

// With the numbers of servers that the program has, every layer is one rank's, and each rank has as many: the table's MiB are
// whole numbers, and no layer is fetched twice.
func TestLayersDivide(t *testing.T) {
	for _, servers := range []int{4, 3} {
		if layers%servers != 0 {
			t.Errorf("%d layers do not divide among %d ranks", layers, servers)
		}
	}
	t.Setenv("NUMBER", "9223372036854775807")
	if got := number("NUMBER"); got != 9223372036854775807 {
		t.Errorf("a variable is read as %d", got)
	}
}
