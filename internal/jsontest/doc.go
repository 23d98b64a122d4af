// Package jsontest holds one property over the public types of all packages: what encoding/json writes
// of a value, it reads back as an equal value. It has tests only.
package jsontest
