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

// readers has, for the name of each event, what reads its other keys.
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

// UnmarshalEvent reads one event as json.Marshal writes it, for instance
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

// tagged writes the fields of an event, a struct, with its name before them.
// The type of fields has no MarshalJSON, or json.Marshal would come back here for ever.
func tagged(name string, fields any) ([]byte, error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	head := fmt.Appendf(nil, "{%q:%q", tag, name)
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

// The methods below write an event with its name; each hides its own method from json.Marshal by a type
// that has none.

// MarshalJSON returns {"event":"tick", ...}.
func (t Tick) MarshalJSON() ([]byte, error) {
	type fields Tick
	return tagged(t.name(), fields(t))
}

// MarshalJSON returns {"event":"store", ...}.
func (s StoreNamed) MarshalJSON() ([]byte, error) {
	type fields StoreNamed
	return tagged(s.name(), fields(s))
}

// MarshalJSON returns {"event":"server-up", ...}.
func (s ServerUp) MarshalJSON() ([]byte, error) {
	type fields ServerUp
	return tagged(s.name(), fields(s))
}

// MarshalJSON returns {"event":"server-silent", ...}.
func (s ServerSilent) MarshalJSON() ([]byte, error) {
	type fields ServerSilent
	return tagged(s.name(), fields(s))
}

// MarshalJSON returns {"event":"server-fenced", ...}.
func (s ServerFenced) MarshalJSON() ([]byte, error) {
	type fields ServerFenced
	return tagged(s.name(), fields(s))
}

// MarshalJSON returns {"event":"submit", ...}.
func (s Submit) MarshalJSON() ([]byte, error) {
	type fields Submit
	return tagged(s.name(), fields(s))
}

// MarshalJSON returns {"event":"adjust", ...}.
func (a Adjust) MarshalJSON() ([]byte, error) {
	type fields Adjust
	return tagged(a.name(), fields(a))
}

// MarshalJSON returns {"event":"checkpoint", ...}.
func (c Checkpoint) MarshalJSON() ([]byte, error) {
	type fields Checkpoint
	return tagged(c.name(), fields(c))
}

// MarshalJSON returns {"event":"cancel", ...}.
func (c Cancel) MarshalJSON() ([]byte, error) {
	type fields Cancel
	return tagged(c.name(), fields(c))
}

// MarshalJSON returns {"event":"forget", ...}.
func (f Forget) MarshalJSON() ([]byte, error) {
	type fields Forget
	return tagged(f.name(), fields(f))
}

// MarshalJSON returns {"event":"finished", ...}.
func (f Finished) MarshalJSON() ([]byte, error) {
	type fields Finished
	return tagged(f.name(), fields(f))
}

// MarshalJSON returns {"event":"exited", ...}.
func (e Exited) MarshalJSON() ([]byte, error) {
	type fields Exited
	return tagged(e.name(), fields(e))
}

// MarshalJSON returns {"event":"drain", ...}.
func (d Drain) MarshalJSON() ([]byte, error) {
	type fields Drain
	return tagged(d.name(), fields(d))
}

// MarshalJSON returns {"event":"cordon", ...}.
func (c Cordon) MarshalJSON() ([]byte, error) {
	type fields Cordon
	return tagged(c.name(), fields(c))
}

// MarshalJSON returns {"event":"stalled", ...}.
func (s Stalled) MarshalJSON() ([]byte, error) {
	type fields Stalled
	return tagged(s.name(), fields(s))
}

// MarshalJSON returns {"event":"orphan", ...}.
func (o Orphan) MarshalJSON() ([]byte, error) {
	type fields Orphan
	return tagged(o.name(), fields(o))
}

// MarshalJSON returns {"event":"reply", ...}.
func (r Reply) MarshalJSON() ([]byte, error) {
	type fields Reply
	return tagged(r.name(), fields(r))
}
