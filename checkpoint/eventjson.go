// This file implements events as JSON: one object each, with a key "event" that says which it is.

package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// tag is the key under which the name of an event stands.
const tag = "event"

// eventTypes has one event of each type.
var eventTypes = []Event{
	Tick{}, ServerUp{}, ServerSilent{}, ServerFenced{}, StoreNamed{}, Submit{}, Adjust{}, Checkpoint{}, Cancel{}, Forget{}, Finished{}, Exited{},
	Drain{}, Cordon{}, Stalled{}, Orphan{}, Reply{},
}

// UnmarshalEvent reads one event as MarshalEvent writes it, for instance
//
//	{"event":"adjust","targets":{"lr":["s1","s2"]}}
//
// The values of "event" are tick, server-up, server-silent, server-fenced, store, submit, adjust, checkpoint, cancel, forget,
// finished, exited, drain, cordon, stalled, orphan and reply; the other keys are the fields of that type. An unknown event is an
// [*apportion.FieldError] with apportion.ErrUnknown; a key that the type does not have, and anything
// behind the object, is an error, too.
func UnmarshalEvent(data []byte) (Event, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, fmt.Errorf("checkpoint: event: %w", err)
	}
	var name string
	if err := json.Unmarshal(keys[tag], &name); err != nil {
		return nil, &apportion.FieldError{Field: tag, Err: apportion.ErrEmpty, Detail: "no text that names an event"}
	}
	at := slices.IndexFunc(eventTypes, func(e Event) bool { return e.name() == name })
	if at < 0 {
		return nil, &apportion.FieldError{Item: check.Item("event", name, 0), Field: tag, Err: apportion.ErrUnknown}
	}
	// A key that is left over is one that the type does not have.
	delete(keys, tag)
	event := reflect.New(reflect.TypeOf(eventTypes[at]))
	body, err := json.Marshal(keys)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(event.Interface())
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: event %q: %w", name, err)
	}
	return event.Elem().Interface().(Event), nil
}

// MarshalEvent writes an event as UnmarshalEvent reads it: the key "event" first, then its fields.
func MarshalEvent(event Event) ([]byte, error) {
	body, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	head := fmt.Appendf(nil, "{%q:%q", tag, event.name())
	if len(body) > len("{}") {
		head = append(head, ',')
	}
	return append(head, body[1:]...), nil
}

// The names of the events, as UnmarshalEvent lists them.
func (Tick) name() string         { return "tick" }
func (ServerUp) name() string     { return "server-up" }
func (ServerSilent) name() string { return "server-silent" }
func (ServerFenced) name() string { return "server-fenced" }
func (StoreNamed) name() string   { return "store" }
func (Submit) name() string       { return "submit" }
func (Adjust) name() string       { return "adjust" }
func (Checkpoint) name() string   { return "checkpoint" }
func (Cancel) name() string       { return "cancel" }
func (Forget) name() string       { return "forget" }
func (Finished) name() string     { return "finished" }
func (Exited) name() string       { return "exited" }
func (Drain) name() string        { return "drain" }
func (Cordon) name() string       { return "cordon" }
func (Stalled) name() string      { return "stalled" }
func (Orphan) name() string       { return "orphan" }
func (Reply) name() string        { return "reply" }
