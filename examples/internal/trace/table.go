// This file turns a CSV, plain or gzip, into an iterator over rows.

package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

// maxRow is how many bytes one row may have. A quotation mark that is never closed, or a
// compressed bomb without a line end, is refused there instead of filling the memory.
const maxRow = 1 << 20

// gzipMagic are the first two bytes of every gzip stream, RFC 1952 §2.3.1. No CSV begins with them.
var gzipMagic = []byte{0x1f, 0x8b}

// The sorts of fault that a file can have beyond those of package apportion.
var (
	// ErrColumn: the header lacks a column.
	ErrColumn = errors.New("column is missing")
	// ErrNumber: a field that is no number.
	ErrNumber = errors.New("is not a number")
	// ErrTooLong: a row of more than a mebibyte.
	ErrTooLong = errors.New("row is too long")
)

// Error is a fault in a file.
type Error struct {
	// File is the name given to the reader.
	File string
	// Line counts from 1; 0: the file as a whole, for instance a broken gzip header.
	Line int
	// Column is the name of the column; empty: the row as a whole.
	Column string
	// Err is the sort of fault: one of this package, of package apportion, *csv.ParseError,
	// gzip.ErrHeader, gzip.ErrChecksum, io.ErrUnexpectedEOF for a truncated file, or what the
	// underlying reader returned.
	Err error
}

// Error returns "file:line: column: fault".
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += ":" + strconv.Itoa(e.Line)
	}
	if e.Column != "" {
		text += ": " + e.Column
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the sort of fault.
func (e *Error) Unwrap() error { return e.Err }

// table reads rows that have the named columns.
// It holds one row at a time, and no more of the file than the buffers of its readers.
type table struct {
	// file is for messages alone; header has the names of the columns in the order of the file.
	file    string
	limited limitedReader
	csv     *csv.Reader
	header  []string
}

// rows returns the rows of in, each decoded by decode. It yields one error at most, at the end.
func rows[T any](file string, in io.Reader, columns []string, decode func(*row) T) iter.Seq2[T, error] {
	return rowsOf(file, in, ',', columns, decode)
}

// rowsOf is rows of a table whose fields have comma between them.
func rowsOf[T any](file string, in io.Reader, comma rune, columns []string, decode func(*row) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		t, err := open(file, in, comma, columns)
		if err != nil {
			yield(none, err)
			return
		}
		for {
			r, err := t.next()
			if err == io.EOF {
				return
			}
			// decode keeps the first fault of the row rather than return it: a decoder is then one literal, field by field.
			var value T
			if err == nil {
				value = decode(r)
				err = r.err()
			}
			if err != nil {
				yield(none, err)
				return
			}
			// The caller has left its loop: nothing more is read, and the file is its own to close.
			if !yield(value, nil) {
				return
			}
		}
	}
}

// open reads the header and checks that the columns are there.
func open(file string, in io.Reader, comma rune, columns []string) (*table, error) {
	plain, err := decompress(in)
	if err != nil {
		return nil, &Error{File: file, Err: err}
	}
	t := &table{file: file, limited: limitedReader{in: plain}}
	t.csv = csv.NewReader(&t.limited)
	t.csv.Comma = comma
	t.limited.left = maxRow
	t.header, err = t.csv.Read()
	switch {
	// A file without a header is empty, whatever its name promises.
	case err == io.EOF:
		return nil, &Error{File: file, Err: apportion.ErrEmpty}
	case err != nil:
		return nil, t.fault(err)
	}
	return t, t.checkHeader(columns)
}

// checkHeader wants each of the columns, and none twice: a field is found by the name of its column. Others may be there.
func (t *table) checkHeader(columns []string) error {
	for _, name := range columns {
		if !slices.Contains(t.header, name) {
			return &Error{File: t.file, Line: 1, Column: name, Err: ErrColumn}
		}
	}
	for i, name := range t.header {
		if slices.Index(t.header, name) < i {
			return &Error{File: t.file, Line: 1, Column: name, Err: apportion.ErrDuplicate}
		}
	}
	return nil
}

// next returns the next row, or io.EOF. The csv reader checks that it has as many fields as the header.
// The limit is renewed for each row: it bounds a row and not the file.
func (t *table) next() (*row, error) {
	t.limited.left = maxRow
	fields, err := t.csv.Read()
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, t.fault(err)
	}
	return &row{table: t, fields: fields}, nil
}

// fault wraps an error of the CSV reader, which knows the line only for faults of the syntax.
func (t *table) fault(err error) error {
	line := 0
	if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
		line = parse.Line
	}
	return &Error{File: t.file, Line: line, Err: err}
}

// decompress returns the plain bytes of in, which it recognizes as gzip by its first two bytes.
func decompress(in io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(in)
	// A file of one byte is no gzip; what is wrong with it the CSV reader will say.
	// Peek leaves the bytes where they are, for whichever reader comes next.
	magic, err := buffered.Peek(len(gzipMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.Equal(magic, gzipMagic) {
		return buffered, nil
	}
	// The checksum is verified by the reader at the end of the stream, so that a truncated file is a fault.
	return gzip.NewReader(buffered)
}

// limitedReader refuses to go on after left bytes; the table renews left before each row.
type limitedReader struct {
	in   io.Reader
	left int
}

// Read implements io.Reader.
func (l *limitedReader) Read(p []byte) (int, error) {
	// No byte of the row is handed out any more, so that the CSV reader cannot buffer it.
	if l.left <= 0 {
		return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLong, maxRow)
	}
	// The CSV reader reads ahead of its rows, so a row that is just too long may pass; one without end never does.
	n, err := l.in.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
