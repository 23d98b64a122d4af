// This file implements what a guard leaves behind for whoever asks later.

package guard

import (
	"encoding/json"

	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/regular"
)

// Record is what a guard writes down of its run: in the file Config.Record, which is there as a whole or not at all. An
// agent that was replaced reads there how a process ended that was not its own.
// How old it is the file's time tells.
type Record struct {
	ID
	Epoch int64 `json:"epoch"`
	State State `json:"state"`
}

// ReadRecord reads the record of a run; the error wraps fs.ErrNotExist where there is none.
func ReadRecord(name string) (Record, error) {
	var r Record
	err := read(name, &r)
	return r, err
}

// write writes the record. It must outlive the guard; that of the end must outlive the machine as well.
func (r *Record) write(name string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if r.State.Ended != nil {
		return vfs.WriteFile(name, append(text, '\n'))
	}
	return vfs.ReplaceFile(name, append(text, '\n'))
}

// read reads a file that holds one value as JSON, and waits for nobody.
func read(name string, value any) error {
	text, err := regular.Read(name, maxBody)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}
