// This file chooses how an answer is written: a table where people read it, JSON for programs.

package main

import (
	"io"
	"os"
)

// table is an output that people can read.
type table interface{ print(out io.Writer) error }

// askedFlags declares what all questions about a problem have: -table, -json and, for a controller's, -token.
func (c *command) askedFlags() {
	c.StringVar(&c.token, "token", "", "`file` with the token of a controller, where its address stands in place of the file")
	c.BoolVar(&c.table, "table", false, "a table to read, also where the output is no terminal")
	c.BoolVar(&c.json, "json", false, "JSON, also where the output is a terminal")
}

// present writes an answer as the flags ask, and without them by what the output is.
func (c *command) present(answer table) error {
	if c.table || !c.json && isTerminal(c.out) {
		return answer.print(c.out)
	}
	return c.write(answer)
}

// isTerminal reports whether out is a terminal, or looks like one: a device of characters.
func isTerminal(out io.Writer) bool {
	file, is := out.(*os.File)
	if !is {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && file.Name() != os.DevNull
}
