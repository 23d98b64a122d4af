// This file tests the monitor that edits capacities inside a real ResourceManager, by what a real apportion serve says, and by what a
// broken one does.

package yarn

import (
	"bytes"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/managertest"
	"github.com/apportion/apportion/examples/managertest/processes"
	"github.com/apportion/apportion/internal/must"
)

// The queue of the only application gets what the least of the others leaves, up to its maximum. While nobody answers on the socket, or what is there hangs
// or answers nonsense, capacities stay, the log says why, and the monitor asks again.
func TestEditor(t *testing.T) {
	// The path of a socket is short, and its folder is there before the cluster.
	folder := must.Have(os.MkdirTemp("", "editor"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s")
	c := newClusterWith(t, 1, map[string]string{"yarn.resourcemanager.scheduler.monitor.enable": "true",
		"yarn.resourcemanager.scheduler.monitor.policies": "com.github.apportion.yarn.editor.CapacityEditor",
		"apportion.editor.socket":                         socket, "apportion.editor.interval-ms": "500", "apportion.editor.timeout-ms": "1500"})
	capacities := func(want map[string]float64) func() bool {
		return func() bool {
			root, err := c.manager.queues(t.Context())
			for _, q := range root.Queues.Queue {
				if math.Abs(q.Capacity-want[q.Path]) > 0.01 {
					return false
				}
			}
			return err == nil && len(root.Queues.Queue) == len(want)
		}
	}
	before := map[string]float64{"root.a": 50, "root.b": 40, "root.closed": 5, "root.small": 5}
	id, kill := c.rigid(t, "b")
	processes.Eventually(t, "the application runs", 120*time.Second, func() bool {
		list, err := c.manager.tenants(t.Context())
		return err == nil && len(list) == 1 && list[0].ID == id && list[0].Containers == 1
	})
	// says waits until the monitor has said twice more why capacities stay.
	says := func(why string) {
		t.Helper()
		said := func() int {
			text := must.Have(os.ReadFile(filepath.Join(c.Dir, "log", rmName)))(t)
			n := 0
			for line := range bytes.Lines(text) {
				if bytes.Contains(line, []byte("capacities stay as they are")) && bytes.Contains(line, []byte(why)) {
					n++
				}
			}
			return n
		}
		begun := said()
		processes.Eventually(t, "the monitor says: "+why, 60*time.Second, func() bool { return said() >= begun+2 })
		if !capacities(before)() {
			t.Errorf("capacities have changed: %s", why)
		}
	}
	says("No such file")
	full(t, socket, func() { says("no answer within 1500 ms") })
	claims := func(text string) string { return "HTTP/1.0 200 OK\r\n\r\n" + `{"claims":[` + text + "]}" }
	for _, broken := range []struct {
		why    string
		answer io.Reader // after it the connection ends, unless it is nil
	}{
		{"no answer within 1500 ms", nil},
		{"/v1/drf answers HTTP/1.0 20", strings.NewReader("HTTP/1.0 20")},
		{"/v1/drf answers HTTP/1.0 500", strings.NewReader("HTTP/1.0 500 no\r\n\r\n")},
		{"JsonEOFException", strings.NewReader(claims(`{"id":"` + id + `","share":1`)[:40])},
		{"JsonParseException", strings.NewReader(claims("what?"))},
		{"no answer for [" + id, strings.NewReader(claims(""))},
		{"nobody asked for the claim", strings.NewReader(claims(`{"id":"` + id + `","share":1},{"id":"another","share":1}`))},
		{"nobody asked for the claim", strings.NewReader(claims(`{"id":"` + id + `","share":-3}`))},
		{"StackOverflowError", strings.NewReader(claims(strings.Repeat("[", 1<<20)))},
		{"/v1/drf answers zzzz", endless{}},
	} {
		answer(t, socket, broken.answer, func() { says(broken.why) })
	}
	c.Start("serve", processes.Build(t, c.Dir, "apportion", managertest.Path(t, "examples"), "./apportion"), "serve", "-listen", "unix:"+socket)
	processes.Eventually(t, "its queue has what it deserves", 60*time.Second, capacities(map[string]float64{"root.a": 1, "root.b": 97, "root.closed": 1, "root.small": 1}))
	kill()
	_, kill = c.rigid(t, "small")
	processes.Eventually(t, "its queue has what it may have", 120*time.Second, capacities(map[string]float64{"root.a": 73, "root.b": 1, "root.closed": 1, "root.small": 25}))
	kill()
}

// endless is an answer that never ends.
type endless struct{}

func (endless) Read(to []byte) (int, error) { return copy(to, bytes.Repeat([]byte("z"), len(to))), nil }

// answer gives everybody who asks on a socket the same answer while it is used; nil: none at all.
func answer(t *testing.T, socket string, what io.Reader, use func()) {
	t.Helper()
	listener := must.Have(net.Listen("unix", socket))(t)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if what == nil {
				defer conn.Close()
				continue
			}
			go func() {
				defer conn.Close()
				_, _ = conn.Read(make([]byte, 1<<16)) // the question
				if s, ok := what.(*strings.Reader); ok {
					_, _ = io.Copy(conn, io.NewSectionReader(s, 0, s.Size()))
				} else {
					_, _ = io.Copy(conn, what)
				}
			}()
		}
	}()
	use()
}

// full keeps a socket whose queue of connections is full while it is used: to connect hangs.
func full(t *testing.T, socket string, use func()) {
	t.Helper()
	fd := must.Have(syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0))(t)
	defer os.Remove(socket)
	defer syscall.Close(fd)
	must.Do(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: socket}))
	must.Do(t, syscall.Listen(fd, 0))
	defer must.Have(net.Dial("unix", socket))(t).Close()
	use()
}
