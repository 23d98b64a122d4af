// This file tests the curves that come with the package.

package trace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The curves can be read and are those that package growth tests with.
func TestRecordedCurvesAreCopies(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("recorded", "*.csv"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, path := range names {
		name := filepath.Base(path)
		steps, values, err := Recorded(strings.TrimSuffix(name, ".csv"))
		if err != nil || len(steps) < 2 || len(steps) != len(values) {
			t.Errorf("%s: %d steps, %d values, %v", name, len(steps), len(values), err)
		}
		ours, err := os.ReadFile(path)
		theirs, err2 := os.ReadFile(filepath.Join("..", "..", "..", "growth", "testdata", "curves", name))
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(ours, theirs) {
			t.Errorf("%s is not a copy (%v)", name, err)
		}
	}
	if _, _, err := Recorded("nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unknown curve: error %v", err)
	}
}
