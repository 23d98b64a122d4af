// This file draws a progress bar.

package command

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress returns what to call after each of n steps. It draws a bar on stderr if that is a
// terminal; doing says in a word what is done.
func Progress(stderr io.Writer, n int, doing string) (tick func()) {
	file, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	bar := progressbar.NewOptions(n,
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription(doing),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
	return func() { _ = bar.Add(1) } // a bar that cannot be drawn is no reason to stop
}
