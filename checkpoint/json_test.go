// This file tests that every value that the package takes or hands over survives JSON unchanged.

package checkpoint_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// text draws strings that JSON must quote, among others.
func text() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{"", "a/b", `"`, "\u2028", "<&>", "größe"}))
}

func numbers() *rapid.Generator[int64] { return rapid.Int64() }

func events() *rapid.Generator[checkpoint.Event] {
	servers := rapid.OneOf(rapid.Just[[]string](nil), rapid.SliceOf(text()))
	return rapid.Custom(func(t *rapid.T) checkpoint.Event {
		name, number := text().Draw(t, "name"), numbers().Draw(t, "number")
		vector := apportion.Resources(rapid.SliceOf(numbers()).Draw(t, "vector"))
		moment := time.Unix(number%(1<<33), number&0x1fffffff).UTC()
		switch kind := rapid.IntRange(0, 14).Draw(t, "type"); kind {
		case 0:
			return checkpoint.Tick{Now: moment}
		case 1:
			return checkpoint.ServerUp{Server: apportion.Server{ID: name, Capacity: vector}, Incarnation: text().Draw(t, "incarnation")}
		case 2:
			return checkpoint.ServerFenced{ID: name}
		case 3:
			return checkpoint.Submit{Job: name, Demand: vector, Min: int(number)}
		case 4:
			return checkpoint.Adjust{Targets: rapid.MapOf(text(), servers).Draw(t, "targets"),
				Deadline: rapid.SampledFrom([]time.Time{{}, moment}).Draw(t, "deadline")}
		case 5:
			return checkpoint.Checkpoint{Job: name}
		case 6:
			return checkpoint.Cancel{Job: name}
		case 7:
			return checkpoint.Forget{Job: name}
		case 8:
			return checkpoint.Finished{Job: name, Attempt: number}
		case 9:
			return checkpoint.Exited{Job: name, Attempt: number, Detail: text().Draw(t, "detail"), Refused: number%2 == 0}
		case 10:
			return checkpoint.ServerSilent{ID: name}
		case 11:
			return checkpoint.Stalled{Job: name, Attempt: number, Detail: text().Draw(t, "detail")}
		case 12:
			return checkpoint.Drain{ID: name, Deadline: rapid.SampledFrom([]time.Time{{}, moment}).Draw(t, "deadline"), Over: number%2 == 0}
		case 13:
			return checkpoint.Cordon{ID: name, Detail: text().Draw(t, "detail"), Over: number%2 == 0,
				Until: rapid.SampledFrom([]time.Time{{}, moment}).Draw(t, "until")}
		default:
			outcomes := []checkpoint.Outcome{checkpoint.Done, checkpoint.Failed, checkpoint.Damaged, checkpoint.Unreadable, checkpoint.Fenced}
			return checkpoint.Reply{ID: number, Job: name, Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"),
				Detail: text().Draw(t, "detail"), Step: number}
		}
	})
}

// TestEventsSurviveJSON reads events as what they are, alone and by their type.
func TestEventsSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		event := events().Draw(t, "event")
		text := must.Have(checkpoint.MarshalEvent(event))(t)
		back, err := checkpoint.UnmarshalEvent(text)
		if err != nil || !reflect.DeepEqual(back, event) {
			t.Fatalf("%s is read as %#v, %v, and was %#v", text, back, err, event)
		}
		own := reflect.New(reflect.TypeOf(event))
		if err := json.Unmarshal(text, own.Interface()); err != nil || !reflect.DeepEqual(own.Elem().Interface(), event) {
			t.Fatalf("%s is read into its type as %#v, %v", text, own.Elem(), err)
		}
	})
}

// TestEventText pins the text, which other languages write.
func TestEventText(t *testing.T) {
	for want, event := range map[string]checkpoint.Event{
		`{"event":"tick","now":"2026-01-02T03:04:05.000000006Z"}`:                        checkpoint.Tick{Now: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)},
		`{"event":"server-up","server":{"id":"s1","capacity":[4,16]}}`:                   checkpoint.ServerUp{Server: apportion.Server{ID: "s1", Capacity: apportion.Resources{4, 16}}},
		`{"event":"server-silent","id":"s1"}`:                                            checkpoint.ServerSilent{ID: "s1"},
		`{"event":"drain","id":"s1","deadline":"2026-01-02T03:04:05Z"}`:                  checkpoint.Drain{ID: "s1", Deadline: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		`{"event":"cordon","id":"s1","detail":"no disk","until":"2026-01-02T03:04:05Z"}`: checkpoint.Cordon{ID: "s1", Detail: "no disk", Until: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		`{"event":"drain","id":"s1","over":true}`:                                        checkpoint.Drain{ID: "s1", Over: true},
		`{"event":"stalled","job":"lr","attempt":3,"detail":"no step"}`:                  checkpoint.Stalled{Job: "lr", Attempt: 3, Detail: "no step"},
		`{"event":"store","id":"A"}`:                                                     checkpoint.StoreNamed{ID: "A"},
		`{"event":"server-fenced","id":"s1"}`:                                            checkpoint.ServerFenced{ID: "s1"},
		`{"event":"submit","job":"a/b","demand":[1,2]}`:                                  checkpoint.Submit{Job: "a/b", Demand: apportion.Resources{1, 2}},
		`{"event":"submit","job":"a","demand":[1],"min":2}`:                              checkpoint.Submit{Job: "a", Demand: apportion.Resources{1}, Min: 2},
		`{"event":"adjust","targets":{"a":["s1","s1"],"b":null}}`:                        checkpoint.Adjust{Targets: map[string][]string{"b": nil, "a": {"s1", "s1"}}},
		`{"event":"checkpoint","job":"a"}`:                                               checkpoint.Checkpoint{Job: "a"},
		`{"event":"cancel","job":"a"}`:                                                   checkpoint.Cancel{Job: "a"},
		`{"event":"cancel","job":"a","failed":"why"}`:                                    checkpoint.Cancel{Job: "a", Failed: "why"},
		`{"event":"forget","job":"a"}`:                                                   checkpoint.Forget{Job: "a"},
		`{"event":"finished","job":"a","attempt":3}`:                                     checkpoint.Finished{Job: "a", Attempt: 3},
		`{"event":"exited","job":"a","attempt":3,"detail":"signal: killed"}`:             checkpoint.Exited{Job: "a", Attempt: 3, Detail: "signal: killed"},
		`{"event":"reply","id":7,"job":"a","outcome":"done","step":120}`:                 checkpoint.Reply{ID: 7, Job: "a", Outcome: checkpoint.Done, Step: 120},
		`{"event":"reply","id":7,"job":"a","outcome":"failed","detail":"x","step":0}`:    checkpoint.Reply{ID: 7, Job: "a", Outcome: checkpoint.Failed, Detail: "x"},
	} {
		if text, err := checkpoint.MarshalEvent(event); err != nil || string(text) != want {
			t.Errorf("%#v is written as\n%s, %v, want\n%s", event, text, err, want)
		}
	}
}

// TestEventRefused reads what is no event.
func TestEventRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                                     "unexpected end",
		`[]`:                                   "array",
		`{}`:                                   "names an event",
		`{"event":7}`:                          "names an event",
		`{"event":"explode"}`:                  `event "explode"`,
		`{"event":"cancel","job":"a","x":1}`:   `unknown field "x"`,
		`{"event":"cancel","attempt":1}`:       `unknown field "attempt"`,
		`{"event":"cancel","job":"a"}{}`:       "after top-level value",
		`{"event":"finished","attempt":"one"}`: "attempt",
		`{"event":"reply","outcome":"dnoe"}`:   `outcome is unknown: "dnoe"`,
	} {
		event, err := checkpoint.UnmarshalEvent([]byte(text))
		if event != nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %#v, %v, want an error with %q", text, event, err, want)
		}
	}
	must.Fail(checkpoint.UnmarshalEvent([]byte(`{"event":"explode"}`)))(t, apportion.ErrUnknown)
}

// TestWords reads the words of the enumerations, and nothing else.
func TestWords(t *testing.T) {
	phase, action, ending, outcome := checkpoint.Running, checkpoint.Save, checkpoint.Completed, checkpoint.Done
	for what, read := range map[string]func([]byte) error{
		"phase": phase.UnmarshalText, "action": action.UnmarshalText, "ending": ending.UnmarshalText, "outcome": outcome.UnmarshalText,
	} {
		for _, text := range []string{"", "nothing", "Running", "done "} {
			var field *apportion.FieldError
			if err := read([]byte(text)); !errors.As(err, &field) || field.Field != what || !errors.Is(err, apportion.ErrUnknown) {
				t.Errorf("%s %q: %v", what, text, err)
			}
		}
	}
	if phase != checkpoint.Running || action != checkpoint.Save || ending != checkpoint.Completed || outcome != checkpoint.Done {
		t.Error("a word that was refused has changed the value")
	}
	if err := phase.UnmarshalText([]byte("ended")); err != nil || phase != checkpoint.Ended {
		t.Errorf("%s, %v", phase, err)
	}
}

// TestRecoverRefusesContainers: what a job has is in order, and on servers that are on record.
func TestRecoverRefusesContainers(t *testing.T) {
	servers := []checkpoint.Host{{Server: apportion.Server{ID: "s1", Capacity: apportion.Resources{4}}}, {Server: apportion.Server{ID: "s2", Capacity: apportion.Resources{4}}}}
	for name, list := range map[string][]string{"out of order": {"s2", "s1"}, "an unknown server": {"s1", "s3"}} {
		for field, set := range map[string]func(j *checkpoint.Job){
			"Target": func(j *checkpoint.Job) { j.Target = list }, "Fallback": func(j *checkpoint.Job) { j.Fallback = list },
			"Wanted": func(j *checkpoint.Job) { j.Wanted = list }, "Containers": func(j *checkpoint.Job) { j.Containers, j.Target = list, list },
		} {
			j := checkpoint.Job{Name: "a", Demand: apportion.Resources{1}, Min: 1, Phase: checkpoint.Waiting, Target: []string{"s1", "s2"}}
			record := checkpoint.Record{Next: 9, Servers: servers, Jobs: []checkpoint.Job{j}}
			must.Have(checkpoint.Recover(simConfig(), 1, record))(t)
			set(&record.Jobs[0])
			must.Fail(checkpoint.Recover(simConfig(), 1, record))(t, checkpoint.ErrCorrupt, field, name)
		}
	}
}

// TestRecoverRefusesPhase: a record that no JSON has gone through may hold any phase.
func TestRecoverRefusesPhase(t *testing.T) {
	record := checkpoint.Record{Next: 1, Jobs: []checkpoint.Job{{Name: "a", Demand: slot, Min: 1, Phase: "dreaming"}}}
	if _, err := checkpoint.Recover(simConfig(), 1, record); !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), "no such phase") {
		t.Errorf("Recover = %v", err)
	}
}

// TestRecoverRefusesDeadline: a job has a deadline while it is asked for something, or is being saved, and at no other time.
func TestRecoverRefusesDeadline(t *testing.T) {
	servers := []checkpoint.Host{{Server: apportion.Server{ID: "s1", Capacity: apportion.Resources{4}}}}
	for _, c := range []struct {
		order int64
		dated bool
		right bool
	}{{0, false, true}, {1, false, true}, {1, true, true}, {2, true, true}, {0, true, false}} {
		j := checkpoint.Job{Name: "a", Demand: apportion.Resources{1}, Min: 1, Phase: checkpoint.Waiting, Target: []string{"s1"}, Order: c.order}
		if c.order > 0 {
			j.Wanted = []string{"s1"}
		}
		if c.dated {
			j.Deadline = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		_, err := checkpoint.Recover(simConfig(), 1, checkpoint.Record{Next: 9, Servers: servers, Jobs: []checkpoint.Job{j}})
		if (err == nil) != c.right || !c.right && !strings.Contains(err.Error(), "deadline for nothing") {
			t.Errorf("order %d, with a deadline %v: %v", c.order, c.dated, err)
		}
	}
}
