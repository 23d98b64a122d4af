//go:build unix

// This file speaks with the holder of application masters: a process that answers lines of JSON by lines of JSON. Its pipes
// are nobody else's, so whoever may tell it anything is this process.

package yarn

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// heartbeat is the pause between two heartbeats of an application.
// YARN answers requests for containers with heartbeats, so that this is about how long a grant takes.
const heartbeat = 250 * time.Millisecond

// holderPause is the shortest time between two starts of a holder.
// One that cannot start, for want of a jar say, would otherwise be started without a pause.
const holderPause = time.Second

// errNotHeld says that the holder has only just been started, and answers nothing yet; or that it has died.
var errNotHeld = errors.New("the holder does not answer")

// holder is the process that holds the applications. It is started when it is needed, and again when it has died.
// It speaks JSON, a line an order and a line an answer, so that no port is open that anybody else could
// call.
//
// Each order has a number, id, which its answer repeats. An answer with error is a refusal. What a holder says first is ready.
//
//	op      what it says                                     the answer
//	open    job, user, queue, label, priority, stamp         how its application stands, see held
//	start   job, attempt, parts, command, what each takes    nothing
//	stop    job, attempt                                     nothing
//	end     job, status, why                                 nothing
//	list                                                     how all applications stand, by job
type holder struct {
	command, instance string
	// tokens is the folder where it keeps the tokens of applications, for the next holder.
	tokens string

	// mu guards what follows, and keeps orders apart in the pipe.
	mu      sync.Mutex
	started time.Time
	in      io.WriteCloser // nil: there is no process
	ready   bool
	number  int64
	waiting map[int64]chan []byte
}

// newHolder starts nothing: the first order does.
// The instance is the tag of all applications that it holds, by which the next holder finds them again.
func newHolder(command, instance, tokens string) *holder {
	return &holder{command: command, instance: instance, tokens: tokens, waiting: map[int64]chan []byte{}}
}

// randomWord is a word that nobody else has, in small letters.
func randomWord() string { return strings.ToLower(rand.Text()[:12]) }

// begin starts the process if there is none. The caller holds mu.
// It does nothing where it is too early for another try; send says then that the holder does not answer.
func (h *holder) begin() error {
	if h.in != nil || time.Since(h.started) < holderPause {
		return nil
	}
	h.started = time.Now()
	// The command is the shell's, since Hadoop's own is one with variables; the arguments behind it are
	// not, and need no quotes.
	cmd := exec.Command("sh", "-c", "exec "+h.command+` "$@"`, "sh", h.instance, strconv.FormatInt(heartbeat.Milliseconds(), 10), h.tokens)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	h.in = in
	go h.read(cmd, out)
	return nil
}

// read hands the answers to those who wait, until there are no more.
// It runs until the pipe ends, which is when the process has ended or has been killed. Those who wait are
// told by a channel that closes.
func (h *holder) read(cmd *exec.Cmd, out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		h.hear(line)
	}
	// One that has closed its output and lives could answer nothing any more.
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.in.Close() // nobody reads it any more
	h.in, h.ready = nil, false
	for id, answer := range h.waiting {
		close(answer)
		delete(h.waiting, id)
	}
}

// hear takes in a line.
func (h *holder) hear(line []byte) {
	var head struct {
		ID    int64 `json:"id"`
		Ready bool  `json:"ready"`
	}
	if json.Unmarshal(line, &head) != nil {
		return // a start script may have words of its own to say
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready = h.ready || head.Ready
	if answer := h.waiting[head.ID]; answer != nil {
		answer <- line
		delete(h.waiting, head.ID)
	}
}

// send sends an order and returns where its answer will come.
// A Java process takes seconds to begin: until it has said that it is ready, orders are refused rather than
// kept, since a look repeats all of them.
func (h *holder) send(order map[string]any) (<-chan []byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.begin(); err != nil {
		return nil, err
	}
	if !h.ready {
		return nil, errNotHeld
	}
	// Numbers are never used twice in the life of this controller.
	h.number++
	order["id"] = h.number
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	// The buffer of one lets the reader go on when nobody takes the answer.
	answer := make(chan []byte, 1)
	h.waiting[h.number] = answer
	if _, err := h.in.Write(append(text, '\n')); err != nil {
		delete(h.waiting, h.number)
		return nil, fmt.Errorf("%w: %w", errNotHeld, err)
	}
	return answer, nil
}

// refusal is what the holder says of an order that it cannot carry out.
// It is told apart from errNotHeld: asking again would not help.
type refusal string

func (r refusal) Error() string { return "the holder: " + string(r) }

// call sends an order and reads its answer.
// into gets the whole line, whose fields beside id and error depend on the order.
// When the context ends the answer is dropped, and what was ordered may be done all the same.
func (h *holder) call(ctx context.Context, order map[string]any, into any) error {
	answer, err := h.send(order)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	// The channel is closed when the process has died.
	case line, lives := <-answer:
		if !lives {
			return errNotHeld
		}
		var head struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal(line, &head); err != nil {
			return err
		}
		if head.Error != "" {
			return refusal(head.Error)
		}
		return json.Unmarshal(line, into)
	}
}

// held is how an application of the holder's stands.
type held struct {
	// State is opening, open, refused or closed; Why says why it is refused, or what goes wrong.
	State string `json:"state"`
	Why   string `json:"why"`
	// Stopped is the highest attempt that was stopped.
	Stopped int64 `json:"stopped"`
	// Begun is the highest attempt of which a master of a user's own has read that it is wanted.
	Begun      int64           `json:"begun"`
	Containers []heldContainer `json:"containers"`
}

// heldContainer is a container of a run, from when it is wanted until it is over.
type heldContainer struct {
	Attempt int64  `json:"attempt"`
	Rank    int    `json:"rank"`
	Server  string `json:"server"`
	ID      string `json:"id"`
	// State is wanted, asked, granted, started or over; Exit and Why say how one is over.
	State string `json:"state"`
	Exit  int    `json:"exit"`
	Why   string `json:"why"`
}

// list says how all applications stand.
func (h *holder) list(ctx context.Context) (map[string]held, error) {
	var answer struct {
		Jobs map[string]held `json:"jobs"`
	}
	err := h.call(ctx, map[string]any{"op": "list"}, &answer)
	return answer.Jobs, err
}

// holderCommand starts the holder with the configuration and the jars of the cluster.
// Where the client is called otherwise holderVariable says how.
const holderCommand = "yarn jar /usr/local/lib/apportion-yarn-holder.jar"
