// This file implements the checkpoints of torch.distributed.checkpoint: folders of shards with a table of what they hold.

package format

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// Distributed knows what torch.distributed.checkpoint has written into a folder: files of many processes, *.distcp, and
// the table .metadata, which the coordinator writes last and which says where each tensor lies. Every tensor that the
// table has must lie within its file, and where it was written by torch.save its checksums are compared.
//
// A checkpoint is a folder of the directory. The newest is the one with the highest last number in its name.
type Distributed struct {
	// StepsPerNumber is the number of steps that the number in a name stands for. Zero: unknown, and Step is -1.
	StepsPerNumber int64
}

// Name returns "distributed".
func (Distributed) Name() string { return "distributed" }

// tableName is the name of the file that says what the others hold.
const tableName = ".metadata"

// Newest implements [Format].
func (f Distributed) Newest(fsys fs.FS) (Found, error) {
	candidates, err := foldersOf(fsys, func(name string) bool {
		// The folder has the name that a job gave it, which is never part of a pattern: one called [ would make a
		// wrong one. A folder that cannot be listed has no shards.
		entries, _ := fs.ReadDir(fsys, name)
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return e.Name() == tableName || path.Ext(e.Name()) == ".distcp"
		})
	})
	if err != nil {
		return Found{}, err
	}
	return newest(f, fsys, candidates)
}

// Verify implements [Format]; name is the folder.
func (f Distributed) Verify(fsys fs.FS, name string) (Found, error) {
	in, err := enter(fsys, name)
	if err != nil {
		return Found{}, err
	}
	if !in.has(tableName) {
		return Found{}, in.missing(tableName)
	}
	stored, err := storage(fsys, in.at(tableName))
	if err != nil {
		return Found{}, err
	}
	for _, s := range stored {
		if !in.has(s.file) {
			return Found{}, in.missing(s.file)
		}
		if err := s.verify(fsys, in.at(s.file)); err != nil {
			return Found{}, damaged(in.at(s.file), err)
		}
	}
	return in.found(steps(number(name), f.StepsPerNumber)), nil
}

// stored is where the table says that something lies.
type stored struct {
	file           string
	offset, length int64
}

// storage returns what the table lists, in the order of files and offsets. The table is a pickle; each entry is an
// object with the attributes relative_path, offset and length, in this order.
func storage(fsys fs.FS, name string) ([]stored, error) {
	var list []stored
	key := ""
	visit := func(value any) {
		switch value := value.(type) {
		case string:
			if key == "relative_path" {
				list = append(list, stored{file: value, offset: -1, length: -1})
			}
			key = value
		case int64:
			last := len(list) - 1
			// Each entry has both once. What stands behind it in the table has an offset too, which is none in a file.
			if last >= 0 && key == "offset" && list[last].offset < 0 {
				list[last].offset = value
			} else if last >= 0 && key == "length" && list[last].length < 0 {
				list[last].length = value
			}
			key = ""
		}
	}
	if err := walk(fsys, name, func(c *cursor) error { return literals(c, visit) }); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, incomplete(name, "it lists nothing")
	}
	slices.SortFunc(list, func(a, b stored) int {
		if a.file != b.file {
			return bytes.Compare([]byte(a.file), []byte(b.file))
		}
		return compareDown(b.offset, a.offset)
	})
	return slices.Compact(list), nil
}

// verify reads what is stored in its file.
func (s stored) verify(fsys fs.FS, name string) error {
	file, err := open(fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	if s.offset < 0 || s.length < 0 || s.offset > file.size-s.length {
		return fmt.Errorf("%d bytes at %d reach beyond %d: %w", s.length, s.offset, file.size, io.ErrUnexpectedEOF)
	}
	section := io.NewSectionReader(file, s.offset, s.length)
	var magic [4]byte
	// What is written in another form, as by safetensors, has no checksums here.
	if _, err := section.ReadAt(magic[:], 0); err != nil || string(magic[:]) != "PK\x03\x04" {
		return nil
	}
	archive, err := zip.NewReader(section, s.length)
	if err != nil {
		return err
	}
	return records(section, archive.File)
}
