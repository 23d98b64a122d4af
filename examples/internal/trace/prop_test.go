// This file tests that what is written is read back, plain and compressed.

package trace

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/internal/must"
)

func genMaybe[T any](value *rapid.Generator[T]) *rapid.Generator[Maybe[T]] {
	return rapid.Custom(func(t *rapid.T) Maybe[T] {
		if rapid.Bool().Draw(t, "known") {
			return Known(value.Draw(t, "value"))
		}
		return Maybe[T]{}
	})
}

// genSeconds draws whole milliseconds up to a hundred years.
func genSeconds() *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, 100*365*24*3600*1000).Draw(t, "ms")) * time.Millisecond
	})
}

func genJob() *rapid.Generator[Job] {
	text := rapid.StringMatching(`[a-z ",\n-]{0,8}`)
	quantity := genMaybe(rapid.Float64Range(0, 1e6))
	return rapid.Custom(func(t *rapid.T) Job {
		return Job{
			ID:       rapid.StringMatching(`[a-z",\n]{1,8}`).Draw(t, "id"),
			Submit:   genSeconds().Draw(t, "submit"),
			Duration: genMaybe(genSeconds()).Draw(t, "duration"),
			GPUs:     quantity.Draw(t, "gpus"),
			CPUs:     quantity.Draw(t, "cpus"),
			MemGB:    quantity.Draw(t, "mem"),
			User:     text.Draw(t, "user"),
			Group:    text.Draw(t, "group"),
			Tasks:    genMaybe(rapid.Int64Range(0, 1<<62)).Draw(t, "tasks"),
			Queue:    genMaybe(genSeconds()).Draw(t, "queue"),
			Estimate: genMaybe(genSeconds()).Draw(t, "estimate"),
			Status:   text.Draw(t, "status"),
			Kind:     text.Draw(t, "kind"),
			Extra:    map[string]string{"deadline": text.Draw(t, "deadline")},
		}
	})
}

func TestJobsRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		jobs := rapid.SliceOfN(genJob(), 1, 5).Draw(rt, "jobs")
		text := writeJobs(jobs)
		for _, in := range []io.Reader{bytes.NewReader(text), bytes.NewReader(zip(t, string(text)))} {
			got := must.Have(collect(Jobs("jobs", in)))(rt)
			must.Equal(rt, cmp.Diff(jobs, got), "")
		}
	})
}

func writeJobs(jobs []Job) []byte {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	records := [][]string{append(append([]string{}, jobColumns...), "deadline")}
	for _, j := range jobs {
		records = append(records, []string{j.ID, seconds(Known(j.Submit)), seconds(j.Duration), number(j.GPUs),
			number(j.CPUs), number(j.MemGB), j.User, j.Group, count(j.Tasks), seconds(j.Queue), seconds(j.Estimate),
			j.Status, j.Kind, j.Extra["deadline"]})
	}
	if err := w.WriteAll(records); err != nil {
		panic(err)
	}
	return text.Bytes()
}

func seconds(d Maybe[time.Duration]) string {
	if !d.Known {
		return ""
	}
	return fmt.Sprintf("%d.%03d", d.Value/time.Second, d.Value%time.Second/time.Millisecond)
}

func number(x Maybe[float64]) string {
	if !x.Known {
		return ""
	}
	return strconv.FormatFloat(x.Value, 'g', -1, 64)
}

func count(n Maybe[int64]) string {
	if !n.Known {
		return ""
	}
	return strconv.FormatInt(n.Value, 10)
}
