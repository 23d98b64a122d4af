// This file implements the rules on names: what jobs and the parts of checkpoints may be called, and how
// the name of a job becomes one element of a path.

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apportion/apportion/internal/check"
)

// The longest names, in bytes.
const (
	// MaxFolderBytes bounds a Folder.
	MaxFolderBytes = 128
	// MaxPartBytes bounds the name of a part, slashes included, and maxElement each element of it:
	// what common file systems take.
	MaxPartBytes = 1024
	maxElement   = 255
)

// CheckJob returns an error that wraps ErrName and says what is wrong, unless job can name a job: it is
// not empty, and UTF-8 without control characters. That is the rule of all packages for jobs,
// applications and servers. Names differ when their bytes differ.
func CheckJob(job string) error {
	switch {
	case job == "":
		return fmt.Errorf("job %s is empty: %w", quote(job), ErrName)
	case !check.Text(job):
		return fmt.Errorf("job %s is not UTF-8, or has a control character: %w", quote(job), ErrName)
	}
	return nil
}

// Folder is the name of a job as one element of a path, of 1 to MaxFolderBytes bytes: never ".", ".." or
// anything with a slash or a backslash. Different jobs have different folders, and most jobs have one
// that is called as they are.
type Folder string

// The form of folders.
const (
	// hashMark separates the beginning of a long name from the sum of all of it. It is in no other
	// folder, for a percent sign of a name is escaped.
	hashMark = "%%"
	// hashDigits is the length of a SHA-256 sum in hexadecimal digits.
	hashDigits = 2 * sha256.Size
	// keptBytes is how much of a long name stays readable.
	keptBytes = MaxFolderBytes - len(hashMark) - hashDigits
)

// FolderOf returns the folder of a job, which must pass [CheckJob]: the name itself, in which percent
// signs, slashes and backslashes are written %25, %2F and %5C, and the names "." and ".." as %2E and
// %2E%2E. Where that is longer than MaxFolderBytes, it is cut, and %% and the SHA-256 sum of the name
// follow. O(len(job)).
func FolderOf(job string) Folder {
	if job == "." || job == ".." {
		return Folder(strings.ReplaceAll(job, ".", "%2E"))
	}
	if len(job) <= MaxFolderBytes && !strings.ContainsAny(job, `%/\`) {
		return Folder(job) // as most are
	}
	var escaped strings.Builder
	kept := 0 // the length up to the last character that a long name keeps
	for _, r := range job {
		if r == '%' || r == '/' || r == '\\' {
			fmt.Fprintf(&escaped, "%%%02X", r)
		} else {
			escaped.WriteRune(r)
		}
		if escaped.Len() <= keptBytes {
			kept = escaped.Len()
		}
	}
	if escaped.Len() <= MaxFolderBytes {
		return Folder(escaped.String())
	}
	sum := sha256.Sum256([]byte(job))
	return Folder(escaped.String()[:kept] + hashMark + hex.EncodeToString(sum[:]))
}

// Valid reports whether FolderOf can have returned f. Whatever else lies where folders lie is somebody
// else's.
func (f Folder) Valid() bool {
	kept, sum, long := strings.Cut(string(f), hashMark)
	job, ok := unescape(kept)
	if !ok || job != "" && !check.Text(job) {
		return false
	}
	if !long {
		return job != "" && FolderOf(job) == f
	}
	digits, err := hex.DecodeString(sum)
	return err == nil && len(digits) == sha256.Size && hex.EncodeToString(digits) == sum &&
		len(kept) <= keptBytes && (kept == "" || FolderOf(job) == Folder(kept))
}

// unescape returns the name whose escaped form this is, if there is one.
func unescape(escaped string) (name string, ok bool) {
	pieces := strings.Split(escaped, "%")
	name = pieces[0]
	for _, piece := range pieces[1:] {
		if len(piece) < 2 {
			return "", false
		}
		code, err := strconv.ParseUint(piece[:2], 16, 8)
		if err != nil {
			return "", false
		}
		name += string(rune(code)) + piece[2:]
	}
	return name, true
}

// CheckPart returns an error that wraps ErrName and says what is wrong, unless part can name a part of
// a checkpoint: a relative path with forward slashes, of 1 to MaxPartBytes bytes, valid UTF-8 without
// control characters and backslashes, none of whose elements is empty, ".", ".." or longer than 255
// bytes.
func CheckPart(part string) error {
	if fault := checkPart(part); fault != "" {
		return fmt.Errorf("part %s %s: %w", quote(part), fault, ErrName)
	}
	return nil
}

// checkPart says what is wrong with the name of a part; "": nothing.
func checkPart(part string) string {
	if len(part) > MaxPartBytes {
		return fmt.Sprintf("is longer than %d bytes", MaxPartBytes)
	}
	for element := range strings.SplitSeq(part, "/") {
		if fault := checkElement(element); fault != "" {
			return fault
		}
	}
	return ""
}

// checkElement says what is wrong with one element of such a name; "": nothing.
func checkElement(name string) string {
	switch {
	case name == "":
		return "is empty or has an empty element"
	case name == "." || name == "..":
		return "has an element that is . or .."
	case len(name) > maxElement:
		return fmt.Sprintf("has an element longer than %d bytes", maxElement)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.Contains(name, `\`):
		return "has a backslash"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character"
	}
	return ""
}

// quote returns a name for a message, cut where it is too long to read.
func quote(name string) string {
	const readable = 60
	if len(name) > readable {
		return strconv.Quote(name[:readable]) + "..."
	}
	return strconv.Quote(name)
}
