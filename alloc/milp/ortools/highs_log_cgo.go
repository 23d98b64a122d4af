//go:build cgo && (linux || darwin)

// This file receives HiGHS' reports; an exported function needs a file without C definitions.

package ortools

// #include <stdint.h>
import "C"

import "runtime/cgo"

// apportionHighsProgress passes a report on. Negative nodes: it is a line of text.
//
//export apportionHighsProgress
func apportionHighsProgress(log C.uintptr_t, nodes C.int64_t, objective, bound C.double, text *C.char) {
	report := highsReport{nodes: int64(nodes), objective: float64(objective), bound: float64(bound)}
	if text != nil {
		report.text = C.GoString(text)
	}
	cgo.Handle(log).Value().(func(highsReport))(report)
}
