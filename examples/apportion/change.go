// This file says in words what a change of a cluster is, of those that "what-if" supposes and that a session is told.

package main

import (
	"strconv"
	"strings"

	"github.com/apportion/apportion/alloc"
)

// textOfChange says what is otherwise, in words.
func textOfChange(c *alloc.Change) string {
	switch {
	case c.Arrive != nil:
		return "arrives: " + c.Arrive.ID
	case c.Update != nil:
		return "is otherwise: " + c.Update.ID
	case c.End != nil:
		return "ended: " + *c.End
	case c.Join != nil:
		return "another server: " + c.Join.ID
	case c.Lose != nil:
		return "server lost: " + *c.Lose
	case c.Cordon != nil:
		return "drained: " + *c.Cordon
	case c.Uncordon != nil:
		return "open again: " + *c.Uncordon
	case c.Set != nil:
		return "set: " + textOfSettings(c.Set)
	}
	return "nothing"
}

// textOfSettings writes settings as the flag -set reads them.
func textOfSettings(s *alloc.Settings) string {
	var list []string
	if s.Theta1 != nil {
		list = append(list, "theta1="+jsonNumber(*s.Theta1))
	}
	if s.Theta2 != nil {
		list = append(list, "theta2="+jsonNumber(*s.Theta2))
	}
	if s.Preempt != nil {
		list = append(list, "preempt="+strconv.FormatBool(*s.Preempt))
	}
	return strings.Join(list, ", ")
}
