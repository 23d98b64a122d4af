// This file is the command: it writes the vectors.

// Kit makes test vectors for implementers in other languages: what the library answers to shares, decisions, plans, the lines of a
// trainer, admission, limits, and the run protocol, as JSON. The same library writes the same files.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "vectors", "the folder to write into")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "kit:", err)
		os.Exit(1)
	}
}

// version is that of the form of the files. A field that is added leaves it as it is.
const version = 1

// file is one file of vectors, of one kind.
type file struct {
	Version int      `json:"version"`
	Kind    string   `json:"kind"`
	About   string   `json:"about"`
	Vectors []vector `json:"vectors"`
}

// vector is a question with its answer.
type vector struct {
	Name   string `json:"name"`
	Input  any    `json:"input"`
	Output any    `json:"output"`
}

// kinds are all files, by the kind of their vectors.
var kinds = []struct {
	name, about string
	draw        func() ([]vector, error)
}{
	{"shares", "Dominant resource fairness: containers and shares of each claim, divisible or whole.", shares},
	{"decisions", "The best value of Dorm's program, with its budgets, for any solver: objective equals best within 1e-6.", decisions},
	{"plans", "The steps from one allocation to the next, in their order.", plans},
	{"lines", "Lines that a trainer prints: the reading in each, or null where a line is none.", lines},
	{"admission", "OASiS, job after job: what is admitted, on which schedule, at which cost.", admission},
	{"limits", "FlowCon on one worker: the limits that each step changes.", limits},
	{"orders", "Which orders a server obeys, message after message, and what it remembers.", orders},
	{"leases", "For how many seconds the runs of a server go on, echo after echo of its own clock.", leases},
	{"claims", "Which runs a master vouches for and which are over for certain, also after a master that follows.", claims},
}

// run writes all files.
func run(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, k := range kinds {
		vectors, err := k.draw()
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		text, err := text(file{version, k.name, k.about, vectors})
		if err := errors.Join(err, os.WriteFile(filepath.Join(out, k.name+".json"), text, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// text is a file as JSON, a vector a line, so that a difference shows which has changed.
func text(f file) ([]byte, error) {
	var b bytes.Buffer
	about, err := json.Marshal(f.About)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "{\"version\": %d, \"kind\": %q, \"about\": %s, \"vectors\": [\n", f.Version, f.Kind, about)
	for i, v := range f.Vectors {
		line, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		b.Write(line)
		if i+1 < len(f.Vectors) {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]}\n")
	return b.Bytes(), nil
}
