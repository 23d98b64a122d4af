package embedded

import "pgregory.net/rapid"

// draws lets rapid draw and shrink the numbers of an instance.
func draws(t *rapid.T) drawer {
	return func(least, most int64, name string) int64 { return rapid.Int64Range(least, most).Draw(t, name) }
}
