// This file reads the flags of a program from one file, and says what may stand there.

package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// The flags that are about the file itself.
const (
	configFlag = "config"
	schemaFlag = "schema"
)

// readConfig sets flags by a file: a JSON object with their names. What was given on the command line stays. Its error names the file,
// the line and the reason of the first fault.
func readConfig(name string, flags *flag.FlagSet) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	given := map[string]bool{configFlag: true, schemaFlag: true}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	offset, err := setAll(d, flags, given)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		offset, err = int64(len(text)), errors.New("the object does not end")
	}
	return fmt.Errorf("%s:%d: %w", name, 1+bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n")), err)
}

// setAll sets the flags of an object but for those that are given. It returns where it was when an error came.
func setAll(d *json.Decoder, flags *flag.FlagSet, given map[string]bool) (offset int64, err error) {
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return d.InputOffset(), errors.Join(err, errors.New("it is to be an object"))
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return d.InputOffset(), err
		}
		key, _ := token.(string) // every key of an object is a string
		value, err := d.Token()
		switch {
		case err != nil:
			return d.InputOffset(), err
		case flags.Lookup(key) == nil || key == configFlag || key == schemaFlag:
			return d.InputOffset(), fmt.Errorf("%q is no flag", key)
		case seen[key]:
			return d.InputOffset(), fmt.Errorf("%q is there twice", key)
		}
		seen[key] = true
		switch value.(type) {
		case string, bool, json.Number:
		default:
			return d.InputOffset(), fmt.Errorf("%q is to be a string, a number or a bool", key)
		}
		if given[key] {
			continue
		}
		if err := flags.Set(key, fmt.Sprint(value)); err != nil {
			return d.InputOffset(), fmt.Errorf("%q: %w", key, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return d.InputOffset(), err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return d.InputOffset(), errors.New("there is something behind the object")
	}
	return 0, nil
}

// writeSchema writes what such a file may have, as JSON Schema.
func writeSchema(w io.Writer, flags *flag.FlagSet) error {
	properties := map[string]map[string]any{}
	flags.VisitAll(func(f *flag.Flag) {
		if f.Name == configFlag || f.Name == schemaFlag {
			return
		}
		property := map[string]any{"type": "string", "description": f.Usage}
		if getter, is := f.Value.(flag.Getter); is {
			value := getter.Get()
			switch value.(type) {
			case bool:
				property["type"] = "boolean"
			case int:
				property["type"] = "integer"
			case float64:
				property["type"] = "number"
			case time.Duration:
				value = f.DefValue
				property["pattern"] = `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`
			}
			property["default"] = value
		}
		properties[f.Name] = property
	})
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "the configuration of " + flags.Name(),
		"type": "object", "additionalProperties": false, "properties": properties})
}
