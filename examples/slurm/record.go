// This file reads what Slurm's commands print: records of one line, key=value with spaces between.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// command runs one of Slurm's commands and returns what it prints.
// Its error has the command and the beginning of what that wrote to stderr, as Slurm's exit codes say
// little.
func command(ctx context.Context, stdin string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, fault bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &fault
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %.300s", name, strings.Join(args, " "), err, strings.TrimSpace(fault.String()))
	}
	return out.String(), nil
}

// record is a line of `scontrol -o show`.
// A key that is not there and one with an empty value are the same.
type record map[string]string

// keys begin with a letter at the start of the line or after a space, and end with an equals sign: values may have spaces.
// Values such as Comment are free text, so that a key inside of one cannot be told from the next; those
// that decide anything stand before it.
var keys = regexp.MustCompile(`(?:^| )([A-Z][A-Za-z:/*]*)=`)

// readRecord reads a line.
// The value of a key reaches to the next key or the end of the line.
func readRecord(line string) record {
	r := record{}
	found := keys.FindAllStringSubmatchIndex(line, -1)
	for i, at := range found {
		end := len(line)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		value := strings.TrimSpace(line[at[1]:end])
		// The first of a key counts: a comment that holds equals signs comes after what matters.
		if key := line[at[2]:at[3]]; r[key] == "" && value != "(null)" {
			r[key] = value
		}
	}
	return r
}

// readRecords reads all lines.
// "No jobs in the system" is a line without a key, and no record.
func readRecords(text string) []record {
	var list []record
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, "=") {
			list = append(list, readRecord(line))
		}
	}
	return list
}

// number reads a number of a record; 0: there is none.
func (r record) number(key string) (int64, error) {
	if r[key] == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(r[key], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%s: %w", key, r[key], err)
	}
	return n, nil
}

var errSize = errors.New("a number with K, M, G or T is a size")

// megabytes reads a size, in MB where no unit is said.
// Results are rounded to the nearest MB. Sizes beyond 2^40 MB are refused, since sums of them could
// overflow.
func megabytes(text string) (int64, error) {
	if text == "" || text == "0" {
		return 0, nil
	}
	// The digits are what is left without the unit, and the unit what is left without the digits: anything
	// else makes one of them invalid.
	digits, unit := strings.TrimRight(text, "KMGT"), strings.TrimLeft(text, "0123456789.")
	n, err := strconv.ParseFloat(digits, 64)
	factor, known := map[string]float64{"": 1, "K": 1.0 / 1024, "M": 1, "G": 1024, "T": 1 << 20}[unit]
	if err != nil || !known || n < 0 || n > 1<<40 {
		return 0, fmt.Errorf("%q: %w", text, errSize)
	}
	return int64(n*factor + 0.5), nil
}

// gpus counts the GPUs in a list of generic resources, as gpu:4, gres:gpu:a100:2(IDX:0-1) or gres/gpu=3.
// It counts entries of all types alike: an application asks for GPUs without a type, and a typed request is
// one for as many.
func gpus(list string) int64 {
	total := int64(0)
	for one := range strings.SplitSeq(list, ",") {
		one = strings.NewReplacer("gres:", "", "gres/", "", "=", ":").Replace(one)
		one, _, _ = strings.Cut(one, "(")
		parts := strings.Split(one, ":")
		if parts[0] != "gpu" {
			continue
		}
		n, err := strconv.ParseInt(parts[len(parts)-1], 10, 32)
		if err != nil {
			n = 1 // a type without a number
		}
		total += n
	}
	return total
}
