// This file implements the checkpoints of Orbax, which JAX uses: folders that are renamed when they are whole.

package format

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Orbax knows the folders that Orbax's checkpoint manager writes, one for each step. They are filled under another name
// and renamed, and _CHECKPOINT_METADATA says when that was: a folder without it, or with the name of one that is being
// filled, is none. Every item that it names must be there with its _METADATA, every file of JSON be whole, and the
// CRC-32C of every manifest.ocdbt be right. The files with the arrays, in folders d, have no checksums of their own here:
// of these only is checked that there are some beside each manifest, and a manifest beside them.
// The number in a folder's name is the step, whatever prefix the manager was given.
func Orbax() Format {
	return folders{name: "orbax", like: named(func(name string) bool { return number(name) >= 0 }), verify: verifyManaged}
}

// What the names of folders have in them that are being filled.
const unfinished = ".orbax-checkpoint-tmp"

// verifyManaged verifies a folder, from the name, over what says that the save came to its end, to the items.
func verifyManaged(in *folder) (int64, error) {
	if strings.Contains(in.name, unfinished) {
		return 0, incomplete(in.name, "it is being filled")
	}
	if !in.has("_CHECKPOINT_METADATA") {
		return 0, in.missing("_CHECKPOINT_METADATA")
	}
	var about struct {
		// Committed is a pointer, since a time that is not there is another fault than damage to it; both are refused.
		Items     any    `json:"item_handlers"`
		Committed *int64 `json:"commit_timestamp_nsecs"`
	}
	if err := readJSON(in.fsys, in.at("_CHECKPOINT_METADATA"), &about); err != nil {
		return 0, err
	}
	if about.Committed == nil || *about.Committed <= 0 {
		return 0, incomplete(in.at("_CHECKPOINT_METADATA"), "it was not committed")
	}
	if err := in.verifyItems(about.Items); err != nil {
		return 0, err
	}
	return number(in.name), nil
}

// verifyItems reads what a folder has of its items: several by name, or one that is the folder itself.
func (f *folder) verifyItems(items any) error {
	named, _ := items.(map[string]any)
	for item := range named {
		if !f.has(path.Join(item, "_METADATA")) && !f.has(path.Join(item, "metadata")) {
			return f.missing(path.Join(item, "_METADATA"))
		}
	}
	if len(named) == 0 && !f.has("_METADATA") {
		return f.missing("_METADATA")
	}
	for _, file := range f.files {
		var err error
		switch base := path.Base(file); {
		// The arrays' files lie in folders called d, each beside the manifest that says what is in them.
		case path.Base(path.Dir(file)) == "d":
			if manifest := path.Join(path.Dir(path.Dir(file)), "manifest.ocdbt"); !f.has(manifest) {
				return f.missing(manifest)
			}
		case base == "manifest.ocdbt":
			dir := path.Join(path.Dir(file), "d")
			if !slices.ContainsFunc(f.files, func(other string) bool { return strings.HasPrefix(other, dir+"/") }) {
				return f.missing(dir)
			}
			err = verifyManifest(f.fsys, f.at(file))
		case base == "_METADATA" || base == "_sharding" || path.Base(path.Dir(file)) == "array_metadatas":
			err = readJSON(f.fsys, f.at(file), new(any))
		}
		if err != nil {
			return damaged(f.at(file), err)
		}
	}
	return nil
}

// The form of a manifest of TensorStore's OCDBT: a magic number, big endian, the length of all, and at the end the
// CRC-32C of what is before it, little endian both. A manifest that claims more than maxManifest bytes is damage to its
// length: the bound is one of time, since it is read in pieces.
const (
	manifestMagic = 0x0cdb3a2a
	maxManifest   = 1 << 30
)

func verifyManifest(fsys fs.FS, name string) error {
	file, err := open(fsys, name)
	if err != nil {
		return err
	}
	defer file.Close()
	var head [12]byte
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return fmt.Errorf("no header: %w", io.ErrUnexpectedEOF)
	}
	if length := binary.LittleEndian.Uint64(head[4:]); binary.BigEndian.Uint32(head[:]) != manifestMagic || length != uint64(file.size) ||
		length > maxManifest || length < uint64(len(head))+crc32.Size {
		return fmt.Errorf("a manifest of %d bytes in %d: %w", length, file.size, errMalformed)
	}
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, file.size-crc32.Size)); err != nil {
		return err
	}
	var tail [crc32.Size]byte
	if _, err := file.ReadAt(tail[:], file.size-crc32.Size); err != nil {
		return err
	}
	if sum.Sum32() != binary.LittleEndian.Uint32(tail[:]) {
		return fmt.Errorf("checksum differs: %w", errMalformed)
	}
	return nil
}
