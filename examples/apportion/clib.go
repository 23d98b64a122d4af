//go:build apportion_clib

// This file is the command as a C library, for languages that load one: "go build -buildmode=c-shared -tags apportion_clib". All
// functions may be called from any thread.

package main

/*
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"unsafe"
)

// opened has what was opened and not yet closed, by handle. Handles count up from 1, so that an old one names nothing.
var opened = struct {
	sync.Mutex
	last     C.uintptr_t
	sessions map[C.uintptr_t]endpoint
}{sessions: make(map[C.uintptr_t]endpoint)}

// endpoint is one subcommand with its flags. Call answers an input, nil for its end, with the exit code and what the command would have
// written: to standard output, or with a code other than 0 to standard error.
type endpoint interface {
	call(in []byte) (code int, out []byte)
}

// apportion_open returns a handle on a subcommand with its flags, which are a list of texts in JSON: ["dorm", "-effort", "20"]. What is
// wrong with them each call says.
//
//export apportion_open
func apportion_open(args *C.char) C.uintptr_t {
	var s endpoint
	var list []string
	if err := json.Unmarshal([]byte(C.GoString(args)), &list); err != nil {
		s = misuse{err}
	} else if len(list) > 0 && subcommands[list[0]].manner == byLine {
		s = newStream(list)
	} else {
		s = single(list)
	}
	opened.Lock()
	defer opened.Unlock()
	opened.last++
	opened.sessions[opened.last] = s
	return opened.last
}

// apportion_call gives a session an input of size bytes, of a stream a line, and returns an exit code of the command. The answer is put
// into out, and its size without the 0 at its end into outSize; apportion_free takes it. An input that is NULL ends the session and its
// handle; of a stream the last answers come then.
//
//export apportion_call
func apportion_call(handle C.uintptr_t, in *C.char, size C.size_t, out **C.char, outSize *C.size_t) C.int {
	opened.Lock()
	s := opened.sessions[handle]
	if in == nil {
		delete(opened.sessions, handle)
	}
	opened.Unlock()
	if s == nil {
		s = misuse{fmt.Errorf("no session %d", uint64(handle))}
	}
	var text []byte
	if in != nil {
		text = append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(in)), size)...)
	}
	code, answer := s.call(text)
	*outSize = C.size_t(len(answer))
	*out = (*C.char)(C.CBytes(append(answer, 0)))
	return C.int(code)
}

// apportion_free frees an answer.
//
//export apportion_free
func apportion_free(answer *C.char) { C.free(unsafe.Pointer(answer)) }

// apportion_version returns what "apportion version" prints; apportion_free takes it.
//
//export apportion_version
func apportion_version() *C.char {
	_, out := single{"version"}.call([]byte{})
	return C.CString(string(bytes.TrimSpace(out)))
}

// misuse is a session that cannot be had.
type misuse struct{ err error }

func (m misuse) call([]byte) (int, []byte) {
	var out bytes.Buffer
	writeFailure(&out, fmt.Errorf("%w: %w", errUsage, m.err))
	return misused, out.Bytes()
}

// single answers each input by itself.
type single []string

func (s single) call(in []byte) (int, []byte) {
	if in == nil {
		return answered, nil
	}
	var out, errs bytes.Buffer
	if code := guarded(s, bytes.NewReader(in), &out, &errs); code != answered {
		return code, errs.Bytes()
	}
	return answered, out.Bytes()
}

// guarded runs the command; a panic is a failure of this run, and not the end of the program that has loaded the library.
func guarded(args []string, in io.Reader, out, errs io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			writeFailure(errs, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			code = failed
		}
	}()
	return run(context.Background(), args, in, out, errs)
}

// stream is a subcommand that reads lines. It runs beside its caller, and stands still between two lines.
type stream struct {
	sync.Mutex
	lines     chan []byte   // closed: the end of the input
	idle      chan struct{} // the next line is wanted: all before it have their answers
	done      chan int      // its exit code
	rest      []byte        // of the present line
	out, errs bytes.Buffer  // written while idle is empty alone
	closed    bool
	ended     bool
	code      int
}

func newStream(args []string) *stream {
	s := &stream{lines: make(chan []byte), idle: make(chan struct{}), done: make(chan int, 1)}
	go func() { s.done <- guarded(args, s, &s.out, &s.errs) }()
	s.wait()
	return s
}

// Read gives the command the next line.
func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		s.idle <- struct{}{}
		line, open := <-s.lines
		if !open {
			return 0, io.EOF
		}
		s.rest = line
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// wait waits until the command wants another line, or has ended.
func (s *stream) wait() {
	select {
	case <-s.idle:
	case s.code = <-s.done:
		s.ended = true
	}
}

func (s *stream) call(in []byte) (int, []byte) {
	s.Lock()
	defer s.Unlock()
	switch {
	case s.ended:
	case in == nil && !s.closed:
		s.closed = true
		close(s.lines)
		s.wait()
	case in != nil:
		s.lines <- append(in, '\n')
		s.wait()
	}
	if s.ended && s.code != answered {
		// A stream that has refused lines ends with 1, and its last answers count all the same.
		if s.out.Len() == 0 || !s.closed {
			return s.code, s.errs.Bytes()
		}
	}
	out := bytes.Clone(s.out.Bytes())
	s.out.Reset()
	return answered, out
}
