// This file checks what a store refuses, what its errors say, and contexts that end.

package storetest

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
)

// badTexts are refused as jobs and as parts.
var badTexts = []string{"", "a\x00b", "a\nb", "a\x7f", "a\u0085", "a\xff"}

// badPaths are refused as parts alone: the name of a part becomes a path where it is loaded, that of a job is escaped.
var badPaths = []string{".", "..", "../../etc/passwd", "a/../b", "/etc/passwd", "a/", "a//b", `..\a`,
	strings.Repeat("x", store.MaxPartBytes+1), strings.Repeat("x", 256)}

// testPartNames: names "pass CheckPart", and one that is refused leaves the writer as it was.
func testPartNames(c check) {
	w := c.write("job", 1)
	for _, name := range append(badPaths, badTexts...) {
		_, err := w.Part(name)
		c.is("part "+name, err, store.ErrName)
	}
	c.ok(writePart(w, file{"good", "content"}))
	c.commits(w, "job", 1, file{"good", "content"})
	c.holds("job", 1, file{"good", "content"})
}

// errorsOf calls every method of a store for a checkpoint and returns the errors by method.
func (c check) errorsOf(ctx context.Context, job string, number int64) map[string]error {
	w, begin := c.Begin(ctx, job, number)
	if begin == nil {
		begin = w.Abort()
	}
	_, open := c.Open(ctx, job, number)
	_, list := c.List(ctx, job)
	return map[string]error{
		"Begin": begin, "Open": open, "List": list, "Delete": c.Delete(ctx, job, number), "Fence": c.Fence(ctx, job, number),
	}
}

// testJobNames: every method refuses what CheckJob refuses.
func testJobNames(c check) {
	for _, name := range badTexts {
		for method, err := range c.errorsOf(c.Context(), name, 1) {
			c.is(method+" of job "+name, err, store.ErrName)
		}
	}
}

// testNumbers: "Numbers are positive"; the largest is one.
func testNumbers(c check) {
	for _, number := range []int64{0, -1, math.MinInt64} {
		for method, err := range c.errorsOf(c.Context(), "job", number) {
			if err == nil && method != "List" {
				c.Errorf("%s of number %d succeeded", method, number)
			}
		}
	}
	c.save("job", math.MaxInt64, sample(1)...)
	c.holds("job", math.MaxInt64, sample(1)...)
}

// testErrors: "Every error wraps the job and number that it is about", whichever way it takes through a store.
func testErrors(c check) {
	c.save("some-job", 4711, sample(1)...)
	told := c.errorsOf(c.ended(), "some-job", 4711)
	_, told["Commit"] = c.write("some-job", 4711, sample(2)...).Commit()
	_, told["Part"] = c.write("some-job", 4711).Part("..")
	_, told["Open of nothing"] = c.Open(c.Context(), "another-some-job", 4711)
	for method, err := range told {
		if err == nil || !strings.Contains(err.Error(), "some-job") || method != "List" && !strings.Contains(err.Error(), "4711") {
			c.Errorf("the error of %s does not name job some-job and number 4711: %v", method, err)
		}
	}
}

// testEndedBefore: "Each method returns promptly with the context's error when the context ends": here it has ended before.
func testEndedBefore(c check) {
	c.save("job", 1, sample(1)...)
	late, cancel := context.WithDeadline(c.Context(), time.Unix(0, 0))
	defer cancel()
	for _, ctx := range []context.Context{c.ended(), late} {
		for method, err := range c.errorsOf(ctx, "job", 1) {
			c.is(method, err, ctx.Err())
		}
	}
	c.holds("job", 1, sample(1)...)
}

// testEndsWriting ends the context before each step of a writer: nothing is committed any more, and Abort works.
func testEndsWriting(c check) {
	for last := range 4 {
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		w, err := write(ctx, c, "job", 1, sample(1))
		c.ok(err)
		var part io.WriteCloser
		steps := []func() error{
			func() (err error) { part, err = w.Part("more"); return err },
			func() error { _, err := io.WriteString(part, "content"); return err },
			func() error { return part.Close() },
			func() error { _, err := w.Commit(); return err },
		}
		for _, step := range steps[:last] {
			c.ok(step())
		}
		cancel()
		c.is("a step of a writer after the context", steps[last](), context.Canceled)
		// A part with a failed Write must not close with success.
		if last == 1 {
			c.is("Close after a Write that failed", part.Close(), context.Canceled)
		}
		_, err = w.Commit()
		c.is("Commit after the context", err, context.Canceled)
		c.ok(w.Abort())
		c.absent("job", 1)
	}
}

// testEndsReading: the context of Open ends its reader, in the middle of a part as well; closing still works.
func testEndsReading(c check) {
	// The part exceeds every buffer, and cannot have been read ahead to its end.
	files := []file{{"large", strings.Repeat("x", 1<<20)}, {"small", "y"}}
	c.save("job", 1, files...)
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	r, err := c.Open(ctx, "job", 1)
	c.ok(err)
	part := c.part(r, "large")
	_, err = io.CopyN(io.Discard, part, 1000)
	c.ok(err)
	cancel()
	_, err = io.Copy(io.Discard, part)
	c.is("Read after the context", err, context.Canceled)
	_, err = r.Part("small")
	c.is("Part after the context", err, context.Canceled)
	c.ok(errors.Join(part.Close(), r.Close()))
	c.holds("job", 1, files...)
}
