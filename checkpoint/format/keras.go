// This file implements the files of Keras 3.

package format

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"hash/crc32"
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
	list, err := names(fsys)
	if err != nil {
		return Found{}, err
	}
	var candidates []candidate
	for _, name := range list {
		if path.Ext(name) == ".keras" {
			// The number is searched in the name without its ending; a name without one has -1 and comes last.
			candidates = append(candidates, candidate{name, fileNumber(name)})
		}
	}
	return newest(f, fsys, candidates)
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

// verifyKeras reads all records of an archive.
// The directory of the archive stands at its end, so a file that was cut off has none. O(bytes).
func verifyKeras(fsys fs.FS, name string) error {
	file, err := open(fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	archive, err := zip.NewReader(file, file.size)
	if err != nil {
		return err
	}
	// A Keras file without one of the three cannot be loaded as a model. Other records may be there beside
	// them.
	missing := map[string]bool{"metadata.json": true, "config.json": true, "model.weights.h5": true}
	for _, record := range archive.File {
		if err := verifyRecord(file, record); err != nil {
			return fmt.Errorf("record %.60q: %w", record.Name, err)
		}
		delete(missing, record.Name)
	}
	for record := range missing {
		return fmt.Errorf("no record %s: %w", record, errMalformed)
	}
	return nil
}

// verifyRecord compares one record with its checksum, and its name with that before it.
// The name stands in the directory and before the record itself, and readers go by either. A record of JSON is
// read once more, as a whole: a settings file that was written by half would be found out by the framework
// only.
func verifyRecord(source io.ReaderAt, record *zip.File) error {
	// A record may be compressed; Open undoes that, and the checksum is that of what comes out.
	contents, err := record.Open()
	if err != nil {
		return err
	}
	defer contents.Close()
	// The zip reader takes a checksum of zero for none.
	crc := crc32.NewIEEE()
	n, err := io.Copy(crc, contents)
	if err == nil && (uint64(n) != record.UncompressedSize64 || crc.Sum32() != record.CRC32) {
		err = fmt.Errorf("checksum differs: %w", errMalformed)
	}
	if err != nil {
		return err
	}
	// A name that was damaged in one of the two places has no checksum.
	if name, err := localName(source, record); err != nil || name != record.Name {
		return fmt.Errorf("also called %.60q: %w", name, errMalformed)
	}
	if path.Ext(record.Name) != ".json" {
		return nil
	}
	again, err := record.Open()
	if err != nil {
		return err
	}
	defer again.Close()
	// What is longer than maxJSON is cut there, and so is no JSON: the bound on memory holds for what a record
	// expands to.
	text, err := io.ReadAll(io.LimitReader(again, maxJSON))
	if err == nil && !json.Valid(text) {
		err = fmt.Errorf("no JSON: %w", errMalformed)
	}
	return err
}
