// This file implements the files of Keras 3.

package format

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// Keras knows the files *.keras of Keras 3: zip archives of metadata.json, config.json and model.weights.h5, in which
// the optimizer is too. Each is a checkpoint by itself. The CRC-32 of every record is compared. The newest is the one
// with the highest last number in its name.
//
// Whether the weights are well-formed HDF5 is not looked at: the checksum says that they are the bytes which
// were written.
type Keras struct {
	// StepsPerNumber is the number of steps that the number in a name stands for. Zero: unknown, and Step is -1.
	StepsPerNumber int64
}

// Name returns "keras".
func (Keras) Name() string { return "keras" }

// Newest implements [Format].
func (f Keras) Newest(fsys fs.FS) (Found, error) {
	return newestFile(f, fsys, func(name string) (candidate, bool) {
		return candidate{name, fileNumber(name)}, path.Ext(name) == ".keras"
	})
}

// Verify implements [Format]; name is the file.
func (f Keras) Verify(fsys fs.FS, name string) (Found, error) {
	if err := plain(name); err != nil {
		return Found{}, err
	}
	if err := verifyKeras(fsys, name); err != nil {
		return Found{}, damaged(name, err)
	}
	return Found{Name: name, Files: []string{name}, Step: steps(fileNumber(name), f.StepsPerNumber)}, nil
}

// verifyKeras reads all records of an archive, those of JSON once more as a whole. O(bytes).
func verifyKeras(fsys fs.FS, name string) error {
	return inArchive(fsys, name, func(file *opened, records []*zip.File) error {
		missing := map[string]bool{"metadata.json": true, "config.json": true, "model.weights.h5": true}
		for _, r := range records {
			err := record(file, r)
			if err == nil && path.Ext(r.Name) == ".json" {
				err = wholeJSON(r)
			}
			if err != nil {
				return fmt.Errorf("record %.60q: %w", r.Name, err)
			}
			delete(missing, r.Name)
		}
		for name := range missing {
			return fmt.Errorf("no record %s: %w", name, errMalformed)
		}
		return nil
	})
}

// wholeJSON returns an error unless a record is one value of JSON. One longer than maxJSON is cut there, and so is none.
func wholeJSON(r *zip.File) error {
	contents, err := r.Open()
	if err != nil {
		return err
	}
	defer contents.Close()
	text, err := io.ReadAll(io.LimitReader(contents, maxJSON))
	if err == nil && !json.Valid(text) {
		err = fmt.Errorf("no JSON: %w", errMalformed)
	}
	return err
}
