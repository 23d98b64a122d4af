// This file keeps what a decider must remember when its master is killed.

package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/apportion/apportion/checkpoint/vfs"
)

// ReadNotes fills in notes from a file; without a file they stay as they are.
// notes is a pointer, as for encoding/json.
func ReadNotes(path string, notes any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, notes); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// WriteNotes makes notes outlive this process, whole or as they were.
func WriteNotes(path string, notes any) error {
	data, err := json.Marshal(notes)
	if err != nil {
		return err
	}
	return vfs.WriteFile(path, data)
}
