package alloc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion/alloc"
)

// mostWords is how long a sentence of a reason may be.
const mostWords = 25

// tooLong returns a sentence of a text that has too many words, or "".
func tooLong(text string) string {
	for _, s := range strings.Split(text, ". ") {
		if len(strings.Fields(s)) > mostWords {
			return s
		}
	}
	return ""
}

// TestSituations runs testdata/situations: a problem, what an operator is told of one application, and what to do next.
func TestSituations(t *testing.T) {
	situations := 0
	datadriven.Walk(t, "testdata/situations", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			situations++
			p := new(alloc.Problem)
			if err := json.Unmarshal([]byte(d.Input), p); err != nil {
				t.Fatal(err)
			}
			decision, err := recorded(t, context.Background(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			var job string
			d.ScanArgs(t, "job", &job)
			e, err := alloc.Explain(p, decision)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(e.Applications, func(s alloc.Stop) bool { return s.ID == job })
			stop := &e.Applications[at]
			switch d.Cmd {
			case "prices":
				return printPrices(e)
			case "drain":
				at = slices.IndexFunc(decision.Staying, func(s alloc.Staying) bool { return s.ID == job })
				stop.Reason = decision.Staying[at].Reason
			}
			if s := tooLong(stop.Text); s != "" {
				t.Errorf("%s: more than %d words: %s", d.Pos, mostWords, s)
			}
			return printReason(stop)
		})
	})
	if situations < 54 {
		t.Errorf("%d situations, want 54 or more", situations)
	}
}

// printReason writes what is said of an application, a sentence a line, and the data below.
func printReason(s *alloc.Stop) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s has %d, %s:\n  %s\n", s.ID, s.Containers, cmpOr(s.Constraint, "nothing stands in the way"), strings.ReplaceAll(s.Text, ". ", ".\n  "))
	for at := range s.Blockers {
		fmt.Fprintln(&text, "blocker:", fields(s.Blockers[at]))
	}
	for at := range s.Remedies {
		fmt.Fprintln(&text, "remedy:", fields(s.Remedies[at]))
	}
	return text.String()
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// fields writes the fields of a value that are not zero, as JSON without its punctuation.
func fields(v any) string {
	text, _ := json.Marshal(v)
	return strings.NewReplacer(`"`, "", "{", "", "}", "", ",", " ", ":", "=").Replace(string(text))
}

// printPrices writes what one more unit of every kind would bring.
func printPrices(e *alloc.Explanation) string {
	var text strings.Builder
	for _, v := range e.Kinds {
		fmt.Fprintln(&text, fields(v))
	}
	return text.String()
}
