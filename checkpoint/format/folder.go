// This file implements what the formats share whose checkpoints are folders.

package format

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// mostFiles bounds the files of one checkpoint: more are not looked at, and make none.
const mostFiles = 1 << 20

// folder is a checkpoint that is a folder.
type folder struct {
	fsys fs.FS
	name string
	// files are those in it, at any depth, ascending, relative to it.
	files []string
}

// foldersOf returns the folders of a directory that keep takes, with the last numbers in their names.
func foldersOf(fsys fs.FS, keep func(name string) bool) ([]candidate, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	var candidates []candidate
	for _, e := range entries {
		if e.IsDir() && keep(e.Name()) {
			candidates = append(candidates, candidate{e.Name(), number(e.Name())})
		}
	}
	return candidates, nil
}

// enter returns the checkpoint in a folder of the directory.
func enter(fsys fs.FS, name string) (*folder, error) {
	if err := plain(name); err != nil {
		return nil, err
	}
	f := &folder{fsys: fsys, name: name}
	err := fs.WalkDir(fsys, name, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file == name && !e.IsDir():
			return fmt.Errorf("no folder: %w", errMalformed)
		case e.IsDir():
			return nil
		case !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0:
			return fmt.Errorf("%s is no file: %w", file, errMalformed)
		case len(f.files) == mostFiles:
			return fmt.Errorf("more than %d files: %w", mostFiles, errMalformed)
		}
		f.files = append(f.files, strings.TrimPrefix(file, name+"/"))
		return nil
	})
	slices.Sort(f.files)
	return f, damaged(name, err)
}

// has reports whether the folder has a file.
func (f *folder) has(file string) bool {
	_, found := slices.BinarySearch(f.files, file)
	return found
}

// matching returns the files of the folder itself that a pattern takes.
func (f *folder) matching(pattern string) []string {
	var matching []string
	for _, file := range f.files {
		if ok, _ := path.Match(pattern, file); ok { // the patterns are ours
			matching = append(matching, file)
		}
	}
	return matching
}

// missing is the error of a checkpoint that lacks a file.
func (f *folder) missing(file string) error { return incomplete(f.name, "%s is missing", file) }

// at returns the name of a file of the folder in the directory.
func (f *folder) at(file string) string { return path.Join(f.name, file) }

// found returns the checkpoint with all files of the folder.
func (f *folder) found(step int64) Found {
	found := Found{Name: f.name, Step: step}
	for _, file := range f.files {
		found.Files = append(found.Files, f.at(file))
	}
	return found
}

// verify reads those files of the folder whose form their names tell.
func (f *folder) verify() error {
	for _, file := range f.files {
		verify := func(fs.FS, string) error { return nil }
		switch path.Ext(file) {
		case ".pt", ".pth", ".bin":
			verify = verifyArchive
		case ".safetensors":
			verify = verifyTensors
		case ".json":
			verify = func(fsys fs.FS, name string) error { return readJSON(fsys, name, new(any)) }
		}
		if err := verify(f.fsys, f.at(file)); err != nil {
			return damaged(f.at(file), err)
		}
	}
	return nil
}

// maxJSON bounds a file of JSON, in bytes.
const maxJSON = 64 << 20

// readJSON reads a file that is one value of JSON and nothing else.
func readJSON(fsys fs.FS, name string, value any) error {
	file, err := open(fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	if file.size > maxJSON {
		return damaged(name, fmt.Errorf("%d bytes of JSON: %w", file.size, errMalformed))
	}
	text, err := io.ReadAll(io.NewSectionReader(file, 0, file.size))
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	return damaged(name, err)
}

// inPickle shows the literals in the pickle of an archive of torch.save.
func inPickle(fsys fs.FS, name string, visit func(value any)) error {
	file, err := open(fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	archive, err := zip.NewReader(file, file.size)
	if err != nil {
		return damaged(name, err)
	}
	for _, record := range archive.File {
		if _, base, _ := strings.Cut(record.Name, "/"); base != "data.pkl" {
			continue
		}
		// The records are stored as they are, so that the pickle is a section of the file.
		offset, err := record.DataOffset()
		if err != nil || record.Method != zip.Store || int64(record.UncompressedSize64) < 0 {
			return damaged(name, fmt.Errorf("record %s: %w", record.Name, errMalformed))
		}
		size := min(int64(record.UncompressedSize64), file.size-offset)
		return damaged(name, literals(newCursor(io.NewSectionReader(file, offset, size), size), visit))
	}
	return damaged(name, fmt.Errorf("no record data.pkl: %w", errMalformed))
}

// settings returns the whole numbers that follow these keys in a pickle, each at its first place; -1 stands for None.
func settings(fsys fs.FS, name string, keys ...string) (map[string]int64, error) {
	values := map[string]int64{}
	key := ""
	err := inPickle(fsys, name, func(value any) {
		text, isText := value.(string)
		if _, taken := values[key]; !isText && !taken && slices.Contains(keys, key) {
			values[key] = -1
			if number, ok := value.(int64); ok {
				values[key] = number
			}
		}
		key = text
	})
	return values, err
}
