// This file drives a real browser, Chromium without a window, by its own protocol over a pipe.

package page

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// browser is a window of Chromium.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	next    int
}

// newBrowser opens a window, or skips the test where there is no Chromium, unless APPORTION_REQUIRE_CHROMIUM=1 makes that a failure.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("APPORTION_REQUIRE_CHROMIUM") == "1" {
			t.Fatal(err)
		}
		t.Skip("NOT TESTED: there is no chromium")
	}
	profile := must.Have(os.MkdirTemp("", "chromium"))(t)
	theirIn, to, err := os.Pipe()
	must.Do(t, err)
	from, theirOut, err := os.Pipe()
	must.Do(t, err)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-device-scale-factor=1", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles, cmd.WaitDelay = []*os.File{theirIn, theirOut}, 10*time.Second // descriptors 3 and 4
	must.Do(t, cmd.Start())
	_, _ = theirIn.Close(), theirOut.Close() // its own now
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
		_, _ = to.Close(), from.Close()
		_ = os.RemoveAll(profile)
	})
	_ = from.SetReadDeadline(time.Now().Add(3 * time.Minute))
	b := &browser{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	var target struct {
		ID string `json:"targetId"`
	}
	var attached struct {
		Session string `json:"sessionId"`
	}
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached)
	b.session = attached.Session
	return b
}

// call calls a method of the protocol, and waits for what it returns.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.next++
	question, err := json.Marshal(map[string]any{"id": b.next, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		question, err = json.Marshal(map[string]any{"id": b.next, "method": method, "params": params})
	}
	if err == nil {
		_, err = b.to.Write(append(question, 0))
	}
	for err == nil {
		var text []byte
		if text, err = b.from.ReadBytes(0); err != nil {
			break
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err = json.Unmarshal(text[:len(text)-1], &answer); err != nil || answer.ID != b.next {
			continue // an event
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			err = json.Unmarshal(answer.Result, result)
		}
		break
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// open goes to an address in a window of a width and a height.
func (b *browser) open(url string, width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.until(`document.readyState === "complete" && performance.getEntriesByName("draw").length > 0`)
}

// scheme has the browser prefer "dark" or "light".
func (b *browser) scheme(name string) {
	b.t.Helper()
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": name}}}, nil)
}

// eval returns the value of an expression, which may be a promise.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var answer struct {
		Result struct{ Value any }
		Fault  *struct {
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.Fault != nil {
		b.t.Fatalf("%s: %s", expression, answer.Fault.Exception.Description)
	}
	return answer.Result.Value
}

func (b *browser) until(expression string) {
	b.t.Helper()
	for limit := time.Now().Add(30 * time.Second); b.eval(expression) != true; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			b.t.Fatalf("never: %s\n%v", expression, b.eval(`document.body.innerText.slice(0, 2000)`))
		}
	}
}

func (b *browser) press(key string, code int) {
	b.t.Helper()
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
	}
	if key == "Enter" {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "char", "text": "\r"}, nil)
	}
}

// shot writes what the window shows as a PNG.
func (b *browser) shot(file string) {
	b.t.Helper()
	var answer struct{ Data []byte }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &answer)
	must.Do(b.t, os.WriteFile(file, answer.Data, 0o600))
	b.t.Logf("%s: %d bytes", file, len(answer.Data))
}
