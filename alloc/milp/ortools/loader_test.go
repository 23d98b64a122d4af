//go:build cgo && (linux || darwin)

package ortools

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestLookup: a library without the function, and one of another place, are refused by name. The C
// library stands for one that is there but lacks everything.
func TestLookup(t *testing.T) {
	loaded.Lock()
	was, folder, libraries := loaded.any, loaded.folder, loaded.libraries
	loaded.any, loaded.libraries = false, nil
	loaded.Unlock()
	defer func() { loaded.any, loaded.folder, loaded.libraries = was, folder, libraries }()

	names := []string{"no such library", "libc.so.6", "libSystem.dylib"}
	_, err := load("", names, []string{"strlen", "SolveCpNewEnv"})
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "no function SolveCpNewEnv") {
		t.Errorf("missing function: %v", err)
	}
	functions, err := load("", names, []string{"strlen"})
	if err != nil || functions["strlen"] == nil {
		t.Fatalf("%v, %v", functions, err)
	}
	if _, err := load(os.TempDir(), names, nil); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "two copies") {
		t.Errorf("another place: %v", err)
	}
}
