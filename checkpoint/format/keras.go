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
// stepsPerNumber is the number of steps that the number in a name stands for. Zero: unknown, and Step is -1.
func Keras(stepsPerNumber int64) Format {
	number := func(_ fs.FS, name string) int64 { return fileNumber(name) }
	return single{name: "keras", ending: ".keras", number: number, verify: func(fsys fs.FS, name string) (int64, error) {
		return steps(fileNumber(name), stepsPerNumber), verifyKeras(fsys, name)
	}}
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
