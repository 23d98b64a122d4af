// This file declares the line of a worker's log, and reads logs.

package workerlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Ending is what the names of the files end with that [ReadAll] reads.
const Ending = ".worker.jsonl"

// The kinds of lines, [Line.Worker].
const (
	Start = "start"
	Step  = "step"
	Saved = "saved"
	End   = "end"
)

// Line is a line of a worker's log; the package documentation says what its members hold.
type Line struct {
	Worker  string `json:"worker"`
	Job     string `json:"job"`
	Attempt int64  `json:"attempt"`
	Rank    int    `json:"rank"`
	Server  string `json:"server"`
	Life    string `json:"life"`
	Step    int64  `json:"step"`
	At      int64  `json:"at"`
}

// maxLine bounds a line of a log, in bytes.
const maxLine = 1 << 20

// marker is in every line of a worker.
var marker = []byte(`"worker"`)

// read reads one log: the lines of workers in it, in their order. A last line that is not whole is that of a process which
// was killed. One that is not whole before it is an error: something is missing there.
func read(log io.Reader) ([]Line, error) {
	var lines []Line
	var broken error
	scanner := bufio.NewScanner(log)
	scanner.Buffer(nil, maxLine)
	for number := 1; scanner.Scan(); number++ {
		text := bytes.TrimSpace(scanner.Bytes())
		if len(text) == 0 || text[0] != '{' || !bytes.Contains(text, marker) {
			continue
		}
		// Only now it is known that the broken one was not the last.
		if broken != nil {
			return nil, broken
		}
		var l Line
		if broken = l.read(text); broken != nil {
			broken = fmt.Errorf("workerlog: line %d: %w", number, broken)
			continue
		}
		// Only whole lines get here: what a process did not finish is as if it had never been written.
		lines = append(lines, l)
	}
	return lines, scanner.Err()
}

func (l *Line) read(text []byte) error {
	if err := json.Unmarshal(text, l); err != nil {
		return err
	}
	switch l.Worker {
	case Start, Step, Saved, End:
	default:
		return fmt.Errorf("%q is no kind of line", l.Worker)
	}
	if l.Job == "" || l.Attempt < 1 || l.Life == "" || l.At == 0 {
		return errors.New("job, attempt, life or time is missing")
	}
	return nil
}

// ReadAll reads all logs in a folder and below it, by the [Ending] of their names.
func ReadAll(folder fs.FS) ([]Line, error) {
	var all []Line
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, Ending) {
			return err
		}
		file, err := folder.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		lines, err := read(file)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, lines...)
		return nil
	})
	return all, err
}
