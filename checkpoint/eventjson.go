// This file implements events as JSON: one object each, with a key "event" that says which it is.

package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// tag is the key under which the name of an event stands.
const tag = "event"

var readers = map[string]func(keys map[string]json.RawMessage) (Event, error){
	Tick{}.name():         read[Tick],
	ServerUp{}.name():     read[ServerUp],
	ServerSilent{}.name(): read[ServerSilent],
	ServerFenced{}.name(): read[ServerFenced],
	StoreNamed{}.name():   read[StoreNamed],
	Submit{}.name():       read[Submit],
	Adjust{}.name():       read[Adjust],
	Checkpoint{}.name():   read[Checkpoint],
	Cancel{}.name():       read[Cancel],
	Forget{}.name():       read[Forget],
	Finished{}.name():     read[Finished],
	Exited{}.name():       read[Exited],
	Drain{}.name():        read[Drain],
	Cordon{}.name():       read[Cordon],
	Stalled{}.name():      read[Stalled],
	Orphan{}.name():       read[Orphan],
	Reply{}.name():        read[Reply],
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
	reader, known := readers[name]
	if !known {
		return nil, &apportion.FieldError{Item: check.Item("event", name, 0), Field: tag, Err: apportion.ErrUnknown}
	}
	delete(keys, tag)
	event, err := reader(keys)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: event %q: %w", name, err)
	}
	return event, nil
}

// read reads the fields of one type of event.
// The key that names the event is taken out before, so a key that is left over is one that the type does not have.
func read[T Event](keys map[string]json.RawMessage) (Event, error) {
	body, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	var event T
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&event); err != nil {
		return nil, err
	}
	return event, nil
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
