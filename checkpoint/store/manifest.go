// This file implements the form in which a manifest is kept: one line with a version and a checksum,
// a line of JSON, and the contents of small parts.

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// maxManifestBytes bounds an encoded manifest. A checkpoint of fifty thousand parts with the longest
// names stays below it; what is larger is refused when it is written and damaged when it is read.
// Without a bound a damaged length or a hostile file would have a reader of lists fill its memory.
const maxManifestBytes = 64 << 20

// magic opens every manifest, and the version of the form follows: one digit, and a space.
// It is readable, so that whoever comes upon such a file knows whose it is.
const magic = "apportion-checkpoint "

// headerBytes is the length of the first line: magic, version, checksum in hexadecimal, newline.
// A SHA-256 sum has two hexadecimal digits for each byte.
const headerBytes = len(magic) + 2 + 2*sha256.Size + 1

// Record is a manifest as a store keeps it.
type Record struct {
	Manifest
	// Place is that of the writer. It tells two checkpoints with equal manifests apart, and may be part of
	// the names of objects. A store that needs neither leaves it empty.
	Place Place `json:"place,omitempty"`
	// Inline are the indices, ascending, of the parts that have no object: their contents follow the manifest.
	Inline []int `json:"inline,omitempty"`
}

// version returns the version of the form that a record needs: the first knows digests only, one for each part.
// A record without parts takes the first. A checkpoint of an earlier version, which decode encodes again to
// compare it, gets the form that it had.
func (r Record) version() byte {
	for _, part := range r.Parts {
		if part.CRC32C != "" || part.SHA256 == (Digest{}) {
			return '2'
		}
	}
	if len(r.Inline) > 0 {
		return '2'
	}
	return '1'
}

// Stored is what a store keeps in one piece: a record, and the contents of its inline parts in their order.
type Stored struct {
	Record
	Contents [][]byte `json:"contents,omitempty"`
}

// Encode returns the bytes of a record: "apportion-checkpoint 2", the SHA-256 sum of the second line, a
// newline, the record as one line of JSON, and the contents of the inline parts. A record that the first version of
// the form has is written in that. An error means that it is not valid or that it is larger than 64 MiB.
func Encode(r Stored) ([]byte, error) {
	head, err := Head(r)
	if err != nil {
		return nil, err
	}
	return slices.Concat(append([][]byte{head}, r.Contents...)...), nil
}

// Head is Encode without the contents, which follow it in their order: so that whoever writes them need not have them
// twice in memory.
func Head(r Stored) ([]byte, error) {
	// Head refuses what decodeOf would: nothing is committed that cannot be read again.
	if err := validate(r.Record); err != nil {
		return nil, err
	}
	if r.Parts == nil {
		r.Parts = []Part{} // null and [] would be two forms of one record
	}
	if err := compareContents(r); err != nil {
		return nil, err
	}
	body, err := json.Marshal(r.Record)
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	if headerBytes+len(body) > maxManifestBytes {
		return nil, &apportion.FieldError{Field: "Parts", Err: apportion.ErrRange,
			Detail: fmt.Sprintf("a manifest of %d bytes, more than %d", headerBytes+len(body), maxManifestBytes)}
	}
	header := magic + string(r.version()) + " " + Digest(sha256.Sum256(body)).String() + "\n"
	return append([]byte(header), body...), nil
}

// compareContents returns an error unless the contents are those of the inline parts.
func compareContents(r Stored) error {
	if len(r.Contents) != len(r.Inline) {
		return fmt.Errorf("%d contents of %d inline parts", len(r.Contents), len(r.Inline))
	}
	// The sums were computed while the bytes came in; comparing them here keeps a fault of a store from being
	// committed.
	for i, index := range r.Inline {
		s := newSummer(false)
		s.add(r.Contents[i])
		if got := s.part(""); got.Bytes != r.Parts[index].Bytes || got.CRC32C != r.Parts[index].CRC32C {
			return fmt.Errorf("part %.60q has other contents", r.Parts[index].Name)
		}
	}
	return nil
}

// decodeOf reads what Encode has written, and nothing else: of every other input it says ErrCorrupt. The
// record must be that of the number asked for, of the job that has that folder: a manifest that was moved
// is damaged as well. The contents are slices of data.
func decodeOf(data []byte, folder Folder, number int64) (Stored, error) {
	r, err := decode(data)
	if err != nil {
		return Stored{}, fmt.Errorf("manifest: %w: %w", err, ErrCorrupt)
	}
	// The folder is compared and not the name: a reader that lists folders does not know the name of a long
	// one.
	if FolderOf(r.Job) != folder || r.Number != number {
		return Stored{}, fmt.Errorf("manifest is of job %.60q, number %d: %w", r.Job, r.Number, ErrCorrupt)
	}
	return r, nil
}

// ReadRecord decodes what from holds. It reads 64 MiB at most.
func ReadRecord(from io.Reader, folder Folder, number int64) (Stored, error) {
	// One byte more than allowed is read, which tells a manifest that is too long from one that is just as
	// long.
	data, err := io.ReadAll(io.LimitReader(from, maxManifestBytes+1))
	if err != nil {
		return Stored{}, err
	}
	return decodeOf(data, folder, number)
}

// decode reads a manifest without asking whose it is.
// O(bytes): the JSON is parsed once and written once, and the contents are compared. The result shares the
// bytes of data.
func decode(data []byte) (Stored, error) {
	if len(data) > maxManifestBytes {
		return Stored{}, fmt.Errorf("more than %d bytes", maxManifestBytes)
	}
	// The header is of one length, so the rest needs no parsing before the checksum was compared.
	if len(data) < headerBytes || !strings.HasPrefix(string(data[:headerBytes]), magic) {
		return Stored{}, fmt.Errorf("does not begin with %q and a checksum", magic)
	}
	end := headerBytes + bytes.IndexByte(data[headerBytes:], '\n') + 1
	var r Stored
	if err := json.Unmarshal(data[headerBytes:end], &r.Record); err != nil {
		return Stored{}, err
	}
	if err := validate(r.Record); err != nil {
		return Stored{}, err
	}
	// Lengths that claim more than is there get what is there, which the comparison below finds to be another form.
	rest := data[end:]
	for _, index := range r.Inline {
		bytes := min(r.Parts[index].Bytes, int64(len(rest)))
		r.Contents = append(r.Contents, rest[:bytes:bytes])
		rest = rest[bytes:]
	}
	// A valid record has one form, which includes the checksum: whatever else could be read as the same,
	// with unknown or repeated keys, with spaces, with bytes behind it, was not written by Encode.
	again, err := Encode(r)
	if err == nil && !bytes.Equal(again, data) {
		err = fmt.Errorf("has another checksum or another form than its content")
	}
	return r, err
}

// validate refuses what no Writer would have committed.
// It is asked on both ways, of what is written and of what is read, so that the two cannot come apart.
// O(parts).
func validate(r Record) error {
	if err := checkID(r.Job, r.Number); err != nil {
		return err
	}
	if r.Place != "" && !r.Place.Valid() {
		return errPlace
	}
	seen := make(map[string]bool, len(r.Parts))
	for _, part := range r.Parts {
		if err := checkNew(part.Name, seen); err != nil {
			return err
		}
		if part.Bytes < 0 {
			return &apportion.FieldError{Item: check.Item("part", fmt.Sprintf("%.60s", part.Name), 0), Field: "Bytes",
				Err: apportion.ErrNegative, Detail: fmt.Sprint(part.Bytes)}
		}
		// The first version knows no sums of chunks.
		if r.version() > '1' && !part.CRC32C.Of(part.Bytes) {
			return fmt.Errorf("part %.60q of %d bytes cannot have %d digits of sums", part.Name, part.Bytes, len(part.CRC32C))
		}
		seen[part.Name] = true
	}
	// Ascending indices are each there once, so that every inline part has exactly one content.
	for i, index := range r.Inline {
		if index < 0 || index >= len(r.Parts) || i > 0 && index <= r.Inline[i-1] {
			return fmt.Errorf("inline parts %.60v of %d", r.Inline, len(r.Parts))
		}
	}
	return nil
}

// checkNew refuses a name that is no name of a part or that is taken.
// The error wraps ErrName in both cases.
func checkNew(name string, taken map[string]bool) error {
	if err := CheckPart(name); err != nil {
		return err
	}
	if taken[name] {
		return fmt.Errorf("part %.60q %w: %w", name, apportion.ErrDuplicate, ErrName)
	}
	return nil
}

// checkID returns an error unless job and number can name a checkpoint: what [CheckJob] says
// of the job, or a *apportion.FieldError with ErrRange for a number that is not positive.
// A store's methods begin with it, by which all stores refuse the same.
func checkID(job string, number int64) error {
	if err := CheckJob(job); err != nil {
		return err
	}
	if number <= 0 {
		return &apportion.FieldError{Field: "number", Err: apportion.ErrRange, Detail: fmt.Sprintf("%d is not positive", number)}
	}
	return nil
}

// Wrap returns err with the checkpoint that it is about; nil stays nil.
// The error keeps its sentinels. Stores call it where an error leaves them, so that the words come once.
func Wrap(job string, number int64, err error) error {
	if err == nil {
		return nil
	}
	// Names of jobs may be thousands of bytes long; 60 are enough to find one in a log.
	return fmt.Errorf("job %.60q, checkpoint %d: %w", job, number, err)
}
