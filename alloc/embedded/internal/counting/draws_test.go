package counting

import (
	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/embedded/internal/instancetest"
)

// draws lets rapid draw and shrink the numbers of an instance.
func draws(t *rapid.T) instancetest.Drawer {
	return func(least, most int64, name string) int64 { return rapid.Int64Range(least, most).Draw(t, name) }
}
