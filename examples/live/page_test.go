// This file looks at the master's status page with a real browser, Chromium without a window.
// APPORTION_REQUIRE_CHROMIUM=1 makes its absence a failure.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
)

func init() { subcommands["paged"] = paged }

// pausedAt is the step at which a job of this file waits until the file goOn is beside its runs; steps is
// how many it has.
const (
	pausedAt = 40
	steps    = 80
	goOn     = "go-on"
)

// lossOf is the loss after a step.
func lossOf(step int) float64 { return 2 / float64(step) }

// paged is a training job that needs no framework: its losses are known beforehand.
func paged(ctx context.Context, stdout, _ io.Writer, _ []string) error {
	dir := os.Getenv(command.EnvCheckpointDir)
	leads := os.Getenv(command.EnvRank) == "0"
	curve, err := os.OpenFile(filepath.Join(dir, "curve.jsonl"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer curve.Close()
	for step := 1; step <= steps; step++ {
		if leads {
			fmt.Fprintf(io.MultiWriter(stdout, curve), "{\"step\": %d, \"value\": %g}\n", step, lossOf(step))
		}
		for step == pausedAt {
			if _, err := os.Stat(filepath.Join(filepath.Dir(dir), goOn)); err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if leads {
		fmt.Fprintf(stdout, "{\"step\": %d, \"done\": true}\n", steps)
	}
	return nil
}

// browser is Chromium.
type browser struct{ program string }

// newBrowser skips a test without Chromium, or fails it where it is required.
func newBrowser(t *testing.T) browser {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if program, err := exec.LookPath(name); err == nil {
			return browser{program}
		}
	}
	if os.Getenv("APPORTION_REQUIRE_CHROMIUM") == "1" {
		t.Fatal("APPORTION_REQUIRE_CHROMIUM is set, but there is no chromium")
	}
	t.Skip("NOT TESTED: there is no chromium to show the status page")
	return browser{}
}

// open has the browser do something with a page and returns what it prints.
func (b browser) open(t *testing.T, url string, flags ...string) []byte {
	t.Helper()
	profile := must.Have(os.MkdirTemp("", "chromium"))(t)
	defer os.RemoveAll(profile) // its own processes may still write: what is left is in the temporary folder
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-device-scale-factor=1", "--window-size=1200,900", "--user-data-dir=" + profile}, flags...)
	cmd := exec.CommandContext(ctx, b.program, append(args, url)...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	cmd.WaitDelay = 10 * time.Second // children may hold the output
	output, err := cmd.Output()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%v\n%s", err, &complaints)
	}
	return output
}

// dom returns the page as the browser has understood it.
func (b browser) dom(t *testing.T, url string) *html.Node {
	t.Helper()
	root := must.Have(html.Parse(bytes.NewReader(b.open(t, url, "--dump-dom"))))(t)
	return root
}

// shot returns the page as the browser has drawn it.
func (b browser) shot(t *testing.T, url string) image.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.png")
	b.open(t, url, "--screenshot="+path)
	file := must.Have(os.Open(path))(t)
	defer file.Close()
	picture := must.Have(png.Decode(file))(t)
	return picture
}

// attribute returns an attribute of an element, empty if it has none.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if strings.EqualFold(a.Key, key) {
			return a.Val
		}
	}
	return ""
}

// find returns the elements below a node with this name and, unless it is empty, this identity.
func find(n *html.Node, name, id string) (found []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name && (id == "" || attribute(d, "id") == id) {
			found = append(found, d)
		}
	}
	return found
}

// text is what an element shows, without the spaces around.
func text(n *html.Node) string {
	var all strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			all.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(all.String()), " ")
}

func rowOf(t *testing.T, root *html.Node, job string) *html.Node {
	t.Helper()
	for _, row := range find(root, "tr", "") {
		if attribute(row, "data-job") == job {
			return row
		}
	}
	t.Fatalf("no row of job %q: %s", job, text(root))
	return nil
}

func cells(t *testing.T, root *html.Node, job string) (texts []string) {
	t.Helper()
	for _, cell := range find(rowOf(t, root, job), "td", "") {
		texts = append(texts, text(cell))
	}
	return texts
}

// pagedCluster starts a master and an agent with room for two containers, and submits a job that takes
// both and one that has to wait.
func pagedCluster(t *testing.T) (*cluster.Cluster, string) {
	t.Helper()
	place := cluster.Place(t.TempDir())
	servers := []apportion.Server{{ID: "north", Capacity: apportion.Resources{2, 4}}}
	live := must.Have(cluster.Start(place, cluster.Programs(place, servers, []string{"-policy", "dorm", "-save-every", "1h"}, nil)))(t)
	t.Cleanup(func() {
		if err := live.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := live.Await(ctx, servers); err != nil {
		t.Fatalf("%v\n%s", err, live.Log("master"))
	}
	program := must.Have(os.Executable())(t)
	for _, job := range []string{"first", "later"} {
		argv := []string{program, "paged"}
		application := alloc.Application{ID: job, Executor: "none", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, 2}, Min: 2, Max: 2}, Start: argv, Resume: argv}
		must.Do(t, place.Call(ctx, "/submit", &master.Submission{Application: application}, &master.Nothing{}))
	}
	address := must.Have(place.Page())(t)
	return live, address
}

// until waits for a state of the jobs.
func until(t *testing.T, live *cluster.Cluster, what string, ok func(first, later *master.View) bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var l master.List
		ctx, cancel := context.WithDeadline(t.Context(), deadline)
		err := cluster.Patiently(ctx, func(ctx context.Context) error { return live.Place.Call(ctx, "/list", master.Nothing{}, &l) })
		cancel()
		if err == nil && len(l.Jobs) == 2 && ok(&l.Jobs[0], &l.Jobs[1]) {
			return
		}
		if time.Now().After(deadline) {
			state, _ := json.Marshal(l.Jobs)
			t.Fatalf("not within three minutes: %s; %v, %s\n%s", what, err, state, live.Log("master"))
		}
	}
}

// The page shows the jobs that there are, with their numbers, and the loss curve inside its box.
func TestStatusPage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := newBrowser(t)
	live, url := pagedCluster(t)
	until(t, live, "the first job pauses, the other one waits", func(first, later *master.View) bool {
		return first.Progress.Step == pausedAt && first.Job.Phase == checkpoint.Running && later.Waiting != ""
	})
	root := b.dom(t, url)
	loss := fmt.Sprintf("%.3f", lossOf(pausedAt))
	// Name, phase, place, containers, where, share and fair share, step, run, curve with loss.
	want := []string{"first", "running", "", "2", "north:2", "100.0 % / 100.0 %", strconv.Itoa(pausedAt), "", loss}
	got := cells(t, root, "first")
	want[7] = got[7] // runs are numbered across jobs
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("row of the running job %q, want %q", got, want)
	}
	if got := cells(t, root, "later"); len(got) != len(want) || got[2] != "1" || got[3] != "" || got[6] != "" || got[8] != "" || !strings.HasPrefix(got[1], "idle") {
		t.Errorf("row of the waiting job %q, want why it has nothing", got)
	}
	if servers := find(root, "div", "servers"); len(servers) != 1 || text(servers[0]) != "north 100 %" {
		t.Errorf("servers %q", text(root))
	}
	curveInBox(t, rowOf(t, root, "first"))
	drawnInBox(t, b.shot(t, url))

	must.Do(t, os.WriteFile(filepath.Join(live.Place.Shared(), "first", goOn), nil, 0o600))
	until(t, live, "the first job is completed, the other one runs", func(first, later *master.View) bool {
		return first.Job.Ending == checkpoint.Completed && len(first.Job.Containers) == 0 && later.Progress.Step == pausedAt && later.Job.Phase == checkpoint.Running
	})
	root = b.dom(t, url)
	if got := cells(t, root, "first"); got[1] != "completed" || got[2] != "" || got[5] != strconv.Itoa(steps) || got[7] != fmt.Sprintf("%.3f", lossOf(steps)) {
		t.Errorf("row of the completed job %q", got)
	}
	if got := cells(t, root, "later"); got[1] != "running" || got[2] != "2" || got[3] != "north:2" {
		t.Errorf("row of the job that runs now %q", got)
	}
}

// curveInBox checks the points of a curve against the box that it is drawn in, and that they fall as the
// losses do.
func curveInBox(t *testing.T, row *html.Node) {
	t.Helper()
	pictures, lines := find(row, "svg", ""), find(row, "polyline", "")
	if len(pictures) != 1 || len(lines) != 1 {
		t.Fatalf("%d pictures, %d lines", len(pictures), len(lines))
	}
	var left, top, width, height float64
	must.Have(fmt.Sscan(attribute(pictures[0], "viewBox"), &left, &top, &width, &height))(t)
	points := strings.Fields(attribute(lines[0], "points"))
	if len(points) != pausedAt {
		t.Errorf("%d points of %d steps", len(points), pausedAt)
	}
	lastX, lastY := left-1, top-1
	for _, point := range points {
		var x, y float64
		must.Have(fmt.Sscanf(point, "%g,%g", &x, &y))(t)
		if x < left || x > left+width || y < top || y > top+height || x <= lastX || y < lastY {
			t.Errorf("point %s after %g,%g; the box is %g,%g and %g x %g", point, lastX, lastY, left, top, width, height)
		}
		lastX, lastY = x, y
	}
}

func isLine(c color.Color) bool {
	r, g, b, _ := c.RGBA()
	near := func(have uint32, want int) bool { return max(int(have>>8)-want, want-int(have>>8)) < 24 }
	return near(r, 0xd8) && near(g, 0x1b) && near(b, 0x60)
}

// drawnInBox checks the pixels of the line: they are there, fill the width and the height that the page
// gives to a curve, and nothing is outside.
func drawnInBox(t *testing.T, picture image.Image) {
	t.Helper()
	var box image.Rectangle
	count := 0
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			if isLine(picture.At(x, y)) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
				count++
			}
		}
	}
	if count < 60 || box.Dx() < 180 || box.Dx() > 212 || box.Dy() < 32 || box.Dy() > 44 {
		t.Errorf("%d pixels of the line, in a box of %d x %d; want 208 x 42, and little less", count, box.Dx(), box.Dy())
	}
}

// Without a link the page shows nothing.
func TestStatusPageNeedsLink(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := newBrowser(t)
	_, url := pagedCluster(t)
	bare, _, _ := strings.Cut(url, "?")
	if root := b.dom(t, bare); len(find(root, "table", "")) > 0 || !strings.Contains(text(root), "link") {
		t.Errorf("page without a link: %s", text(root))
	}
}
