// This file tests traces of the user's own: what is played, and what is said about every bad row.

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// columns are the first columns of a trace.
const columns = "job_id,submit_s,duration_s,gpus,cpus,mem_gb,user,group,tasks,queue_s,est_s,status,kind,"

// writeOwn writes a trace and returns its path.
func writeOwn(t *testing.T, rows ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.csv")
	text := columns + "deadline_s,value\n" + strings.Join(rows, "\n") + "\n"
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestOwnTrace(t *testing.T) {
	path := writeOwn(t, "a,0,1200,4,,,,,,,,,,1800,7", "b,60,600,1,,,,,,,,,,7200,", "c,90,6000,8,,,,,,,,,,60,5")
	var out strings.Builder
	must.Do(t, run(t.Context(), &out, io.Discard, []string{"-trace", path, "-gpus", "8,24"}))
	// The third job cannot end in time; the others are worth 7 and, where nothing is said, 10.
	for _, want := range []string{"3 jobs of own.csv, worth 17 together", "8 GPUs  24 GPUs", "no promise                      17      17", "promise on admission            17      17"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// Every bad row is named with what is wrong with it, all of them at once; what cannot be read by its line and column.
func TestOwnTraceFaults(t *testing.T) {
	for _, test := range []struct {
		rows []string
		want []string
	}{
		{[]string{"a,0,10,1,,,,,,,,,,100,1", "a,0,10,1,,,,,,,,,,100,1", "b,0,0,1,,,,,,,,,,100,1", "c,5,10,0.5,,,,,,,,,,100,1", "d,1,10,1,,,,,,,,,,100,1", "e,7,10,1,,,,,,,,,,soon,1", "f,7,10,1,,,,,,,,,,9,much"},
			[]string{`job "a" (row 2): job_id`, `job "b" (row 3): duration_s`, `job "c" (row 4): gpus: 0.5`, `job "d" (row 5): submit_s: 1`, `job "e" (row 6): deadline_s`, `"soon"`, `job "f" (row 7): deadline_s, value`, `"much"`}},
		{[]string{"a,zero,10,1,,,,,,,,,,100,1"}, []string{"own.csv", "2", "submit_s"}},
		{[]string{"a,0,10,1,,,,,,,,,,100"}, []string{"own.csv"}},
		{nil, []string{"there is no job"}},
	} {
		err := run(t.Context(), io.Discard, io.Discard, []string{"-trace", writeOwn(t, test.rows...)})
		must.Err(t, err, must.ErrAny, test.rows, "was played")
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("no %q in %v", want, err)
			}
		}
	}
	if err := run(t.Context(), io.Discard, io.Discard, []string{"-trace", filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a file that is not there was played")
	}
}
