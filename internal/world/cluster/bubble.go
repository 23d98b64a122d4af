// This file enters the time of a run.

package main

import _ "unsafe" // for go:linkname

// bubble runs do in a time of its own, which passes when everybody sleeps: what testing/synctest is made of, without a test.
//
//go:linkname bubble internal/synctest.Run
func bubble(do func())
