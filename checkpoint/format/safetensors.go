// This file implements the files of safetensors, alone and as shards with an index.

package format

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// SafeTensors knows the files of safetensors: a length, a header of JSON, and the tensors, which fill the file to its
// last byte without gaps. There are no checksums. A model in shards comes with an index, N.safetensors.index.json,
// that names the shard of each tensor: all of them must be there, and have it.
//
// Files without an index are taken as PyTorch takes its own: see there for what belongs together.
//
// Without checksums damage to the numbers in a tensor is not noticed. Memory is bounded by the header, which
// may be 100 MiB.
type SafeTensors struct {
	// Patterns are the names of files without an index, as in path.Match; none: *.safetensors.
	Patterns []string
	// Together says that a checkpoint is one file for each of the Patterns, all with the same last number in their
	// names. Its name is that of the file of the first pattern.
	Together bool
	// StepsPerNumber is the number of steps that the number in a name stands for. Zero: unknown, and Step is -1.
	StepsPerNumber int64
	// Files are those of the one checkpoint in the directory, where the job has said which; see [Of].
	Files []string
}

const indexEnding = ".safetensors.index.json"

// shard matches the names of files that belong to an index.
// Whoever writes an index numbers its shards with five digits, from 00001 on.
var shard = regexp.MustCompile(`-[0-9]{5}-of-[0-9]{5}\.safetensors$`)

// Name returns "safetensors".
func (SafeTensors) Name() string { return "safetensors" }

// loose returns the search among files without an index.
func (f SafeTensors) loose() *loose {
	l := &loose{patterns: f.Patterns, together: f.Together, files: f.Files, steps: f.StepsPerNumber, verify: verifyTensors}
	if l.patterns == nil {
		l.patterns, l.together = []string{"*.safetensors"}, false
	}
	return l
}

// Of returns the format for these files of a job, see the function [Of]. A job that names an index means the model in shards.
// Its shards are named by the index, so that a job need not name them all.
func (f SafeTensors) Of(files []string) Format {
	index := slices.ContainsFunc(files, func(name string) bool { return strings.HasSuffix(name, indexEnding) })
	if mine := f.loose().of(files); mine != nil && !index {
		f.Files = mine
	}
	return f
}

// Newest implements [Format].
// Where there is an index, models in shards are searched, by the number in the name of the index; otherwise
// loose files.
func (f SafeTensors) Newest(fsys fs.FS) (Found, error) {
	list, err := names(fsys)
	if err != nil {
		return Found{}, err
	}
	var indexes []candidate
	for _, name := range list {
		if strings.HasSuffix(name, indexEnding) {
			indexes = append(indexes, candidate{name, number(strings.TrimSuffix(name, indexEnding))})
		}
	}
	if len(indexes) == 0 || f.Files != nil {
		return f.loose().newest(f, fsys)
	}
	// Beside an index a file that is no shard is one of another model, or of the optimizer.
	for _, name := range f.loose().of(list) {
		if !shard.MatchString(name) {
			return Found{}, fmt.Errorf("%w of %s: %s and %s: %w", ErrNone, f.Name(), indexes[0].name, name, ErrAmbiguous)
		}
	}
	return newest(f, fsys, indexes)
}

// Verify implements [Format]; name is the file, or the index.
func (f SafeTensors) Verify(fsys fs.FS, name string) (Found, error) {
	if !strings.HasSuffix(name, indexEnding) {
		return f.loose().found(fsys, name)
	}
	if err := plain(name); err != nil {
		return Found{}, err
	}
	shards, err := verifyIndex(fsys, name)
	if err != nil {
		return Found{}, err
	}
	files := append(shards, name)
	slices.Sort(files)
	return Found{Name: name, Files: files, Step: steps(number(strings.TrimSuffix(name, indexEnding)), f.StepsPerNumber)}, nil
}

// verifyIndex reads an index and the shards that it names, and returns these.
// The name may be that of a file in a folder below, whose shards lie beside it. Every shard is opened once,
// however many tensors it has; tensors that a shard has and the index does not name are no fault.
// O(n log n) for n tensors, none of which is read.
func verifyIndex(fsys fs.FS, name string) ([]string, error) {
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := readJSON(fsys, name, &index); err != nil {
		return nil, err
	}
	// wanted are the tensors by shard.
	wanted := map[string][]string{}
	for tensor, file := range index.Map {
		// The index may come from a job: it names files beside it, and no others.
		if err := plain(file); err != nil {
			return nil, damaged(name, err)
		}
		wanted[file] = append(wanted[file], tensor)
	}
	// An index without tensors has no shards either, and would be whole with nothing there.
	if len(wanted) == 0 {
		return nil, incomplete(name, "it names no tensors")
	}
	var shards []string
	for file, tensors := range wanted {
		at := path.Join(path.Dir(name), file)
		has, err := tensorsOf(fsys, at)
		if err != nil {
			return nil, damaged(at, err)
		}
		for _, tensor := range tensors {
			if _, ok := has[tensor]; !ok {
				return nil, incomplete(at, "it lacks the tensor %.60q", tensor)
			}
		}
		shards = append(shards, at)
	}
	slices.Sort(shards)
	return shards, nil
}

// verifyTensors reads the header of a file of safetensors.
// A shard that has lost its end, or got more than it had, does not fit its own header.
func verifyTensors(fsys fs.FS, name string) error {
	_, err := tensorsOf(fsys, name)
	return err
}

// tensorOf is what a header says of one tensor.
// Offsets are the first byte and the one behind the last, counted from the end of the header. Type and shape
// are not compared with them: types come with new versions of the library.
type tensorOf struct {
	Type    string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// maxHeader bounds a header, as the library does.
const maxHeader = 100 << 20

// tensorsOf returns the tensors of a file, which fill it.
// The error says that the file is not one of safetensors, or not whole. The memory is that of the header, which
// is read at once; of a file that claims a long one no more is taken than the file has.
func tensorsOf(fsys fs.FS, name string) (map[string]tensorOf, error) {
	file, err := open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var length [8]byte
	if _, err := file.ReadAt(length[:], 0); err != nil {
		return nil, fmt.Errorf("no header: %w", io.ErrUnexpectedEOF)
	}
	header := binary.LittleEndian.Uint64(length[:])
	// The comparison with maxHeader comes first: behind it the conversion cannot overflow.
	if header > maxHeader || int64(header) > file.size-8 {
		return nil, fmt.Errorf("a header of %d bytes in a file of %d: %w", header, file.size, errMalformed)
	}
	text := make([]byte, header)
	if _, err := file.ReadAt(text, 8); err != nil && header > 0 {
		return nil, err
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, err
	}
	delete(entries, "__metadata__")
	tensors := make(map[string]tensorOf, len(entries))
	for key, entry := range entries {
		var t tensorOf
		if err := json.Unmarshal(entry, &t); err != nil || t.Type == "" || len(t.Offsets) != 2 {
			return nil, fmt.Errorf("tensor %.60q: %w", key, errMalformed)
		}
		tensors[key] = t
	}
	return tensors, fill(tensors, file.size-8-int64(header))
}

// fill returns an error unless the tensors follow each other from the first to the last of so many bytes.
// A gap or an overlap is what damage to an offset makes, and a file that was cut ends before its last tensor.
// O(n log n) for n tensors.
func fill(tensors map[string]tensorOf, bytes int64) error {
	// Empty tensors have spans without bytes, which sort before one that begins at the same place.
	spans := make([][]int64, 0, len(tensors))
	for _, t := range tensors {
		spans = append(spans, t.Offsets)
	}
	slices.SortFunc(spans, slices.Compare)
	at := int64(0)
	for _, span := range spans {
		if span[0] != at || span[1] < at {
			return fmt.Errorf("a tensor from %d to %d behind %d: %w", span[0], span[1], at, errMalformed)
		}
		at = span[1]
	}
	if at != bytes {
		return fmt.Errorf("%d bytes of tensors in %d: %w", at, bytes, errMalformed)
	}
	return nil
}
