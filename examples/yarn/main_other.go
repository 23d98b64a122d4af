//go:build !unix

// This file says, where the system is no Unix, what is missing: owners of files, and opening that follows no link.

package yarn

import "log"

// Main ends with an error.
func Main() { log.Fatal("apportion-yarn needs a Unix: YARN's folders are told apart by their owners") }
