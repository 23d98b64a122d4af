// This file says what the package accepts.

// Package strictjson reads JSON into the public types of the other packages, and names everything that
// is wrong with a text at once: fields that are unknown, repeated or missing, values of the wrong type
// or out of range, each with its path, its line and the item that it belongs to.
//
// # Contract
//
// What Decode accepts is what [json.Unmarshal] accepts for the same type, with the same meaning: the
// value is set by json.Unmarshal itself. Of the texts that json.Unmarshal accepts Decode refuses those
//
//   - with a field that the type does not have, or has with letters of another case;
//   - with the same key twice in one object;
//   - without a field that the type requires: one whose tag says neither omitempty nor omitzero, and to
//     which the type's own UnmarshalJSON, if it has one, gives no default (a weight that is absent is 1);
//   - with null: who has no value leaves the field out. Only in a list of lists null is one that is empty.
//
// Names of fields come from the tags of the types and from nowhere else.
//
// # How it works
//
// Decode goes over a text three times. A walker compares it with the type and notes the faults; it knows of a
// type what encoding/json knows, by reflection, and asks the methods of those types that read themselves. Then
// json.Unmarshal sets the value, from the text without what was found wrong with it: so the caller has all that
// is right, and accepting means what it means to everybody else. At last Options.Validate is asked for what
// only the whole shows. What that says of a field which the text got wrong already is left out: a count that
// was dropped is 0, and that it is 0 is no news.
//
// # Notation
//
//	path      where a value stands: "options.share", "applications[2].demand[1]", "previous[s1]"
//	item      the application, server, job or claim around it; its path begins anew: "demand[1]"
//	offset    a byte of the text, of which Error.Lines tells the line
//	repair    a part of the text that json.Unmarshal does not see
package strictjson
