package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// most is how large the download of the program may be.
const most = 3_000_000

// slow is what the fastest of 21 changes may take, in milliseconds: 100 is the aim for all, and this machine may have other work.
const slow = 300

// What a user does on the page, in a real browser: a driver in a page around it clicks and types, and reports what it sees.
func TestPlayground(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, build(t.Context(), "../apportion", folder))
	info, err := os.Stat(filepath.Join(folder, "apportion.wasm.gz"))
	if err != nil || info.Size() > most {
		t.Errorf("the program is %v, %v", info, err)
	}
	driver := must.Have(os.ReadFile("testdata/driver.html"))(t)
	reports := make(chan []byte, 1)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(folder)))
	mux.HandleFunc("GET /driver.html", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(driver) })
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		select {
		case reports <- text:
		default:
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	browse(t, server.URL+"/driver.html")
	select {
	case text := <-reports:
		var report struct {
			Failures      []string
			Least, Median float64
		}
		if err := json.Unmarshal(text, &report); err != nil || len(report.Failures) > 0 {
			t.Errorf("%s, %v", text, err)
		}
		t.Logf("from a move of a slider to what it leads to %.0f ms, at least %.0f; the program has %d bytes", report.Median, report.Least, info.Size())
		if report.Least == 0 || report.Least > slow {
			t.Errorf("a change takes at least %.0f ms", report.Least)
		}
	case <-time.After(3 * time.Minute):
		t.Error("the browser has reported nothing")
	}
}

// browse opens a page in a browser until the test has ended.
func browse(t *testing.T, url string) {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("APPORTION_REQUIRE_CHROMIUM") == "1" {
			t.Fatal(err)
		}
		t.Skip("NOT TESTED: there is no chromium")
	}
	profile := must.Have(os.MkdirTemp("", "chromium"))(t)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--remote-debugging-port=0",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+profile, url)
	cmd.WaitDelay = 10 * time.Second
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
		_ = os.RemoveAll(profile)
	})
}
