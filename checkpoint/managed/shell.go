// This file writes scripts for managers that start them.

package managed

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Quote returns words for a POSIX shell, each in single quotes, with blanks between them.
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// Export returns the lines of a script that set variables, in the order of their names.
func Export(env map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(&text, "export %s=%s\n", name, Quote(env[name]))
	}
	return text.String()
}
