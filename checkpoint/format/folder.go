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

type folder struct {
	// fsys is the directory that was searched, and name the folder in it, without a slash.
	fsys fs.FS
	name string
	// files are those in it, at any depth, ascending, relative to it.
	files []string
	// beside are files of the checkpoint that lie beside the folder.
	beside []string
}

// folders is a Format whose checkpoints are folders, as data.
type folders struct {
	name string
	// like takes the names of the folders in a directory that seem to be checkpoints.
	like func(fsys fs.FS) func(name string) bool
	// needs is what a checkpoint has one of each, as hasAny takes it.
	needs [][]string
	// verify reads a checkpoint that has what it needs, and returns its step.
	verify func(in *folder) (step int64, err error)
}

func (f folders) Name() string { return f.name }

// Newest implements [Format]: the folders are tried by the last numbers in their names.
func (f folders) Newest(fsys fs.FS) (Found, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return Found{}, fmt.Errorf("format: %w", err)
	}
	like := f.like(fsys)
	var candidates []candidate
	for _, e := range entries {
		// A link to a folder is none: it might lead to a checkpoint that counts already, under another name.
		if e.IsDir() && like(e.Name()) {
			candidates = append(candidates, candidate{e.Name(), number(e.Name())})
		}
	}
	return newest(f, fsys, candidates)
}

// Verify implements [Format]; name is the folder.
func (f folders) Verify(fsys fs.FS, name string) (Found, error) {
	in, err := enter(fsys, name)
	if err != nil {
		return Found{}, err
	}
	for _, kind := range f.needs {
		if !in.hasAny(kind...) {
			return Found{}, in.missing(strings.Join(kind, " or "))
		}
	}
	step, err := f.verify(in)
	if err != nil {
		return Found{}, err
	}
	return in.found(step), nil
}

// named takes folders by their names alone.
func named(like func(name string) bool) func(fs.FS) func(string) bool {
	return func(fs.FS) func(string) bool { return like }
}

// holding takes folders in which a file's name is like that. A folder that cannot be listed has none.
func holding(like func(name string) bool) func(fs.FS) func(string) bool {
	return func(fsys fs.FS) func(string) bool {
		return func(folder string) bool {
			// Jobs choose the names of folders, so none is ever part of a pattern.
			entries, _ := fs.ReadDir(fsys, folder)
			return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return like(e.Name()) })
		}
	}
}

// enter returns the checkpoint in a folder of the directory.
// It lists all that is in the folder and opens none of it. Anything but files, folders and links makes the
// checkpoint incomplete: a pipe or a device in the place of a file would hang or lie when it is read.
// O(n log n) for n files.
func enter(fsys fs.FS, name string) (*folder, error) {
	if err := plain(name); err != nil {
		return nil, err
	}
	f := &folder{fsys: fsys, name: name}
	err := fs.WalkDir(fsys, name, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		// A file of the folder's name is a checkpoint of another format.
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

// hasAny reports whether the folder has something that one of the patterns takes; those of folders end with a slash.
func (f *folder) hasAny(patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if before, ok := strings.CutSuffix(pattern, "/"); ok {
			return len(f.within(before)) > 0
		}
		return len(f.matching(pattern)) > 0
	})
}

func (f *folder) within(pattern string) []string {
	var below []string
	for _, file := range f.files {
		first, _, deeper := strings.Cut(file, "/")
		if ok, _ := path.Match(pattern, first); ok && deeper && !slices.Contains(below, first) { // the patterns are ours
			below = append(below, first)
		}
	}
	return below
}

func (f *folder) missing(file string) error { return incomplete(f.name, "%s is missing", file) }

func (f *folder) at(file string) string { return path.Join(f.name, file) }

// found returns the checkpoint with all files of the folder.
// A job that keeps something beside its model needs it again when it is resumed.
func (f *folder) found(step int64) Found {
	found := Found{Name: f.name, Step: step}
	for _, file := range f.files {
		found.Files = append(found.Files, f.at(file))
	}
	found.Files = append(found.Files, f.beside...)
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
	return damaged(name, inArchive(fsys, name, func(file *opened, records []*zip.File) error {
		for _, record := range records {
			if _, base, _ := strings.Cut(record.Name, "/"); base != "data.pkl" {
				continue
			}
			// Damage may have made a record compressed or its length negative as an int64.
			offset, err := record.DataOffset()
			if err != nil || record.Method != zip.Store || int64(record.UncompressedSize64) < 0 {
				return fmt.Errorf("record %s: %w", record.Name, errMalformed)
			}
			size := min(int64(record.UncompressedSize64), file.size-offset)
			return literals(newCursor(io.NewSectionReader(file, offset, size), size), visit)
		}
		return fmt.Errorf("no record data.pkl: %w", errMalformed)
	}))
}

// inArchive opens a zip archive and hands its records to visit. The directory of an archive is its end, so that one which
// was cut is refused unread.
func inArchive(fsys fs.FS, name string, visit func(file *opened, records []*zip.File) error) error {
	file, err := open(fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	archive, err := zip.NewReader(file, file.size)
	if err != nil {
		return err
	}
	return visit(file, archive.File)
}

// settings returns the whole numbers that follow these keys in a pickle, each at its first place; -1 stands for None.
func settings(fsys fs.FS, name string, keys ...string) (map[string]int64, error) {
	values := map[string]int64{}
	key := ""
	err := inPickle(fsys, name, func(value any) {
		// key is the literal before this one if that was a text, and empty otherwise: a dictionary's key stands
		// right before its value.
		text, isText := value.(string)
		// A text behind a key is the next key or a value that is no number; neither is a setting.
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
