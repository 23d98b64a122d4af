//go:build cgo && (linux || darwin)

// This file receives HiGHS' callbacks; exported functions need a file without C definitions.

package ortools

// #include <stdint.h>
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// foundOf turns the handle that C keeps back into the Go value. run deletes the handle after the
// last callback.
func foundOf(handle C.uintptr_t) *highsFound { return cgo.Handle(handle).Value().(*highsFound) }

// apportionHighsText passes a line of the log on.
//
//export apportionHighsText
func apportionHighsText(found C.uintptr_t, text *C.char) {
	foundOf(found).report(highsReport{nodes: -1, text: C.GoString(text)})
}

// apportionHighsReport passes the state of an integer search on.
//
//export apportionHighsReport
func apportionHighsReport(found C.uintptr_t, nodes C.int64_t, objective, bound C.double) {
	foundOf(found).report(highsReport{nodes: int64(nodes), objective: float64(objective), bound: float64(bound)})
}

// apportionHighsBound takes down a new bound.
//
//export apportionHighsBound
func apportionHighsBound(found C.uintptr_t, bound C.double) { foundOf(found).setBound(float64(bound)) }

// apportionHighsPoint copies a better point, which has a value for every column of the model that was
// passed. The caller in C has seen that there is one.
//
//export apportionHighsPoint
func apportionHighsPoint(found C.uintptr_t, values *C.double) {
	f := foundOf(found)
	f.setPoint(unsafe.Slice((*float64)(unsafe.Pointer(values)), f.columns))
}
