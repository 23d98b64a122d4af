// This file implements the checkpoints of PyTorch: the zip archives of torch.save.

package format

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"strings"
)

// PyTorch knows the files that torch.save has written since PyTorch 1.6: zip archives of records that
// are stored, not compressed. The directory of the archive is at its end, so one that was cut off
// has none. The contents of every record are covered by a CRC-32, and compared; torch.save can be told
// to leave the checksums out, which is refused here. The name of each record stands twice in the archive,
// and must be the same.
//
// A file is taken for a checkpoint by itself only where all files of the directory are one series, whose names differ
// in numbers alone, and none is called like a piece, as optimizer-13.pt and shard-0.pt are. Of the series the newest
// is the one with the highest last number in its name; a name without a number comes last. Where several files make a
// checkpoint, set Together, or have the job name its files: all else ends in [ErrAmbiguous]. One thing cannot be seen:
// that a job which has saved one file of its first checkpoint is going to save another.
type PyTorch struct {
	// Patterns are the names of checkpoint files, as in path.Match; none: *.pt and *.pth. Save under a
	// name that does not match and rename to one that does: else a checkpoint that is written over
	// an older one is neither for a while.
	Patterns []string
	// Together says that a checkpoint is one file for each of the Patterns, all with the same last number in their
	// names. Its name is that of the file of the first pattern.
	Together bool
	// StepsPerNumber is the number of steps that the number in a name stands for: 1 where it counts
	// steps, the steps of an epoch where it counts epochs. Zero: unknown, and Step is -1.
	StepsPerNumber int64
	// Files are those of the one checkpoint in the directory, where the job has said which; see [Of]. None: they are
	// found by their names. The name of several is ".", the directory.
	Files []string
}

// Name returns "pytorch".
func (PyTorch) Name() string { return "pytorch" }

func (f PyTorch) loose() *loose {
	l := &loose{patterns: f.Patterns, together: f.Together, files: f.Files, steps: f.StepsPerNumber, verify: verifyArchive}
	if l.patterns == nil {
		l.patterns, l.together = []string{"*.pt", "*.pth"}, false
	}
	return l
}

// Of returns the format for these files of a job, see the function [Of].
func (f PyTorch) Of(files []string) Format {
	if mine := f.loose().of(files); mine != nil {
		f.Files = mine
	}
	return f
}

// Newest implements [Format].
func (f PyTorch) Newest(fsys fs.FS) (Found, error) { return f.loose().newest(f, fsys) }

// Verify implements [Format]; name is the file that torch.save wrote.
func (f PyTorch) Verify(fsys fs.FS, name string) (Found, error) { return f.loose().found(fsys, name) }

func verifyArchive(fsys fs.FS, name string) error {
	return inArchive(fsys, name, func(file *opened, files []*zip.File) error { return records(file, files) })
}

// fileNumber returns the last number in a name, without what follows the last dot.
func fileNumber(name string) int64 { return number(strings.TrimSuffix(name, path.Ext(name))) }

// records reads every record of an archive. All lie in one folder, whose name is free, and among them are
// the pickle and the version of the format.
func records(source io.ReaderAt, files []*zip.File) error {
	if len(files) == 0 {
		return fmt.Errorf("no records: %w", errMalformed)
	}
	// torch.save names the folder after the file it was given at first, which may have been renamed since.
	root, _, _ := strings.Cut(files[0].Name, "/")
	seen := make(map[string]bool, len(files))
	for _, file := range files {
		name, ok := strings.CutPrefix(file.Name, root+"/")
		// A name twice would leave open which one is loaded; a compressed record was not written by
		// torch.save.
		if !ok || seen[name] || file.Method != zip.Store {
			return fmt.Errorf("record %q does not belong here: %w", file.Name, errMalformed)
		}
		seen[name] = true
		if err := record(source, file); err != nil {
			return fmt.Errorf("record %q: %w", file.Name, err)
		}
	}
	// The pickle holds the structure, and the version says how to read the rest.
	if !seen["data.pkl"] || !seen["version"] {
		return fmt.Errorf("no record data.pkl or no version: %w", errMalformed)
	}
	return nil
}

// record compares name, length and checksum of one record. The zip reader takes a checksum of zero for
// none, and the name from the directory only.
func record(source io.ReaderAt, file *zip.File) error {
	contents, err := file.Open()
	if err != nil {
		return err
	}
	defer contents.Close()
	// The checksum is computed here once more, because the zip reader compares none that is zero.
	crc := crc32.NewIEEE()
	n, err := io.Copy(crc, contents)
	if err != nil && !errors.Is(err, zip.ErrChecksum) {
		return err
	}
	// All three say that the bytes are not those which were written; a reader of the message needs no more.
	if err != nil || uint64(n) != file.UncompressedSize64 || crc.Sum32() != file.CRC32 {
		return fmt.Errorf("checksum differs: %w", errMalformed)
	}
	// torch.load goes by the directory, other readers by the local headers: a difference is damage to one of
	// them.
	name, err := localName(source, file)
	if err == nil && name != file.Name {
		err = fmt.Errorf("also called %q: %w", name, errMalformed)
	}
	return err
}

// localName returns the name that stands before a record: the header ends where the record begins, and
// tells the lengths of the name and of the padding behind it.
func localName(source io.ReaderAt, file *zip.File) (string, error) {
	const headerBytes, most = 30, 1 << 13 // padding aligns records to 64 bytes, or a page
	offset, err := file.DataOffset()
	if err != nil {
		return "", err
	}
	// The header cannot be found from its own offset, which the zip reader keeps to itself, so it is
	// searched backwards from the record.
	// One read of 8 KiB at most; a header that lies farther away was not written by torch.save.
	before := make([]byte, min(offset, most))
	if _, err := source.ReadAt(before, offset-int64(len(before))); err != nil {
		return "", err
	}
	// The search begins at the record: bytes of the record before that look like a header lie farther away.
	for at := len(before) - headerBytes; at >= 0; at-- {
		header := before[at:]
		if !bytes.HasPrefix(header, []byte("PK\x03\x04")) {
			continue
		}
		name := headerBytes + int(binary.LittleEndian.Uint16(header[26:]))
		// The lengths of name and padding must lead exactly to the record, which bytes that look like a
		// header by chance do not.
		if name+int(binary.LittleEndian.Uint16(header[28:])) == len(header) {
			return string(header[headerBytes:name]), nil
		}
	}
	return "", fmt.Errorf("no header: %w", errMalformed)
}
