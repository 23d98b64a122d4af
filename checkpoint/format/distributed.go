// This file implements the checkpoints of torch.distributed.checkpoint: folders of shards with a table of what they hold.

package format

import (
	"archive/zip"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Distributed knows what torch.distributed.checkpoint has written into a folder: files of many processes, *.distcp, and
// the table .metadata, which the coordinator writes last and which says where each tensor lies. Every tensor that the
// table has must lie within its file, and where it was written by torch.save its checksums are compared.
//
// A checkpoint is a folder of the directory. The newest is the one with the highest last number in its name.
//
// stepsPerNumber is the number of steps that the number in a name stands for. Zero: unknown, and Step is -1.
func Distributed(stepsPerNumber int64) Format {
	like := holding(func(name string) bool { return name == tableName || path.Ext(name) == ".distcp" })
	return folders{name: "distributed", like: like, needs: [][]string{{tableName}}, verify: func(in *folder) (int64, error) {
		return steps(number(in.name), stepsPerNumber), verifyTable(in)
	}}
}

// tableName is the name of the file that says what the others hold.
const tableName = ".metadata"

func verifyTable(in *folder) error {
	stored, err := storage(in.fsys, in.at(tableName))
	if err != nil {
		return err
	}
	for _, s := range stored {
		// The table comes from a job, and so may a path in it: has knows only files within the folder.
		if !in.has(s.file) {
			return in.missing(s.file)
		}
		if err := s.verify(in.fsys, in.at(s.file)); err != nil {
			return damaged(in.at(s.file), err)
		}
	}
	return nil
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
	// key is the text that came last, which names the attribute whose value comes next; a number takes it away.
	key := ""
	visit := func(value any) {
		switch value := value.(type) {
		case string:
			// A text behind this key opens an entry; offset and length of it follow.
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
	// A table that lists nothing is what remains of one whose pickle was replaced: every model has a tensor.
	if len(list) == 0 {
		return nil, incomplete(name, "it lists nothing")
	}
	slices.SortFunc(list, func(a, b stored) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset), cmp.Compare(a.length, b.length))
	})
	return slices.Compact(list), nil
}

func (s stored) verify(fsys fs.FS, name string) error {
	file, err := open(fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	// The length is subtracted from the size, since offset and length may sum up to more than an int64.
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
