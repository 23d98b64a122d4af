// This file makes the site and looks at all of it: links, what it fetches, what code it shows, and how it looks in a browser.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

// root is that of the repository.
const root = "../.."

// made makes the site without the playground, for which a picture stands.
func made(t *testing.T) (*site, string) {
	t.Helper()
	s := must.Have(read(root))(t)
	out := t.TempDir()
	must.Do(t, errors.Join(s.write(out), put(out, "playground/index.html", []byte("<h1>playground</h1>"))))
	return s, out
}

var (
	target = regexp.MustCompile(`<(\w+)[^>]*? (href|src)="([^"]*)"`)
	anchor = regexp.MustCompile(` id="([^"]*)"`)
)

// faults returns what is wrong with the links of a page: those that lead nowhere, and what a browser would fetch from elsewhere.
func faults(out, name, text string) (faults []string) {
	for _, match := range target.FindAllStringSubmatch(text, -1) {
		element, to := match[1], match[3]
		switch {
		case strings.HasPrefix(to, "data:"):
			continue
		case strings.Contains(to, ":"):
			if element != "a" || !strings.HasPrefix(to, "http") {
				faults = append(faults, fmt.Sprintf("%s: <%s> of %s", name, element, to))
			}
			continue
		}
		file, id, _ := strings.Cut(to, "#")
		at := path.Join(path.Dir(name), file)
		if file == "" {
			at = name
		}
		there, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(at)))
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		if id != "" && !slices.ContainsFunc(anchor.FindAllStringSubmatch(string(there), -1), func(m []string) bool { return m[1] == id }) {
			faults = append(faults, fmt.Sprintf("%s: %s has no place %q", name, at, id))
		}
	}
	return faults
}

// Every link leads somewhere, nothing comes from elsewhere, and every page can be read by ear: one heading at its top, a text for
// each picture.
func TestPages(t *testing.T) {
	s, out := made(t)
	links := 0
	for _, p := range s.pages {
		text := must.Have(os.ReadFile(filepath.Join(out, filepath.FromSlash(p.Path))))(t)
		links += len(target.FindAll(text, -1))
		for _, fault := range faults(out, p.Path, string(text)) {
			t.Error(fault)
		}
		must.Equal(t, strings.Count(string(text), "<h1"), 1, p.Path, "headings of the first rank")
		if silent := regexp.MustCompile(`<img[^>]* alt=""|<svg [^>]*aria-label=""|<img [^>]*src="[^"]*"( />|>)`).FindString(string(text)); silent != "" {
			t.Errorf("%s: a picture without words: %s", p.Path, silent)
		}
	}
	if len(s.pages) < 50 || links < 1500 {
		t.Errorf("only %d pages, %d links", len(s.pages), links)
	}
}

// What leads nowhere, or elsewhere without being a link, is found.
func TestFaults(t *testing.T) {
	out := t.TempDir()
	must.Do(t, put(out, "a.html", []byte(`<p id="here">`)))
	for text, want := range map[string]int{
		`<a href="a.html#here">`: 0, `<a href="https://example.org">`: 0, `<img src="a.html">`: 0,
		`<a href="b.html">`: 1, `<a href="a.html#there">`: 1, `<a href="mailto:a@example.org">`: 1, `<script src="https://example.org/a.js">`: 1,
	} {
		if found := faults(out, "b/../c.html", text); len(found) != want {
			t.Errorf("%s: %q, want %d", text, found, want)
		}
	}
}

// Pages have no code of their own: what they show is included from what tests run.
func TestCodeIsIncluded(t *testing.T) {
	found := 0
	err := filepath.WalkDir("pages", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found++
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), "```") || regexp.MustCompile(`(?m)\n\n( {4}|\t)`).Match(text) {
			t.Errorf("%s has code of its own", name)
		}
		return err
	})
	listed := 0
	for _, g := range groups {
		listed += len(g.pages)
	}
	if err != nil || found != listed {
		t.Errorf("%d pages, of which %d are listed: %v", found, listed, err)
	}
}

// What is not run, or is not there, cannot be included.
func TestIncludeRefuses(t *testing.T) {
	s := &site{root: root}
	for text, want := range map[string]string{
		`{{go "errors.go" "Nothing"}}`:                     "declares no Nothing",
		`{{go "internal/site/web/layout.html"}}`:           "no test is beside",
		`{{example "examples/admit/main.go" "run"}}`:       "nothing compares",
		`{{example "fuzz_test.go" "FuzzKinds"}}`:           "FuzzKinds",
		`{{readme "LICENSE" "sh" 1}}`:                      "no test beside LICENSE",
		`{{readme "examples/python/README.md" "sh" 9}}`:    "1 blocks of sh",
		`{{readme "checkpoint/command/README.md" "sh" 1}}`: "no test beside",
		`{{output "examples/apportion"}}`:                  "golden cases",
		`{{section "README.md" "How it came about"}}`:      "has no part",
		`{{script "examples/apportion/master.py"}}`:        "no test runs",
		`{{picture "weather"}}`:                            "no picture",
		`{{record "testdata/measured/none"}}`:              "no such file",
	} {
		if _, err := s.expand(&page{source: home + "/x.md", text: text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	// A function that is no example is not run, whatever its comment says.
	helper := &site{root: t.TempDir()}
	must.Do(t, put(helper.root, "a_test.go", []byte("package a\n\nfunc help() {\n\t// Output: 1\n}\n")))
	must.Fail(helper.expand(&page{text: `{{example "a_test.go" "help"}}`}))(t, must.ErrAny, "what help prints is shown, and nothing compares it")
	must.Fail(s.resolve(&page{source: "README.md", Path: "index.html"}, "nowhere.md"))(t, must.ErrAny, "a link to nowhere is resolved")
}

// The same repository makes the same site.
func TestSame(t *testing.T) {
	_, first := made(t)
	_, second := made(t)
	cmd := exec.Command("diff", "-r", first, second)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// variables matches a colour of the style sheet.
var variables = regexp.MustCompile(`--(\w+): #([0-9a-f]{6});`)

// luminance is the relative luminance of WCAG 2, of a colour in hexadecimal digits.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := must.Have(strconv.ParseUint(colour[2*i:2*i+2], 16, 8))(t)
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// Text can be read in the light and in the dark: at least 4.5 to 1, as WCAG 2 has it.
func TestContrast(t *testing.T) {
	text := must.Have(web.ReadFile("web/site.css"))(t)
	light, dark, _ := strings.Cut(string(text), "prefers-color-scheme: dark")
	for name, sheet := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]float64{}
		for _, match := range variables.FindAllStringSubmatch(sheet, -1) {
			colours[match[1]] = luminance(t, match[2])
		}
		for _, ink := range []string{"ink", "quiet", "link"} {
			for _, paper := range []string{"paper", "code"} {
				a, b := colours[ink], colours[paper]
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 || a == b {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, ink, paper, ratio)
				}
			}
		}
	}
}

// measure is a page that opens all others at the width of a phone, and says which are wider than that or do not work.
const measure = `<!doctype html><title>measure</title><iframe id="f" style="width:360px;height:640px"></iframe><script>
(async () => {
  const wide = [];
  for (const name of PAGES) {
    const frame = document.getElementById("f");
    await new Promise((done) => { frame.onload = done; frame.src = "/" + name; });
    const page = frame.contentDocument.documentElement;
    if (page.scrollWidth > 360 || !frame.contentDocument.querySelector("main")) wide.push(name + ": pixels wide: " + page.scrollWidth);
  }
  // The first page has one way to the playground, which puts it there.
  const frame = document.getElementById("f");
  await new Promise((done) => { frame.onload = done; frame.src = "/index.html"; });
  const ways = frame.contentDocument.querySelectorAll('main a[href="playground/index.html"]');
  ways[0].click();
  if (ways.length != 1 || !frame.contentDocument.querySelector('main iframe[src="playground/index.html"]')) wide.push("index.html: the playground is not put in: " + ways.length);
  await fetch("/report", {method: "POST", body: JSON.stringify(wide)});
})();
</script>`

// No page is wider than a phone, in a real browser.
func TestPhone(t *testing.T) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("APPORTION_REQUIRE_CHROMIUM") == "1" {
			t.Fatal(err)
		}
		t.Skip("NOT TESTED: there is no chromium")
	}
	s, out := made(t)
	var names []string
	for _, p := range s.pages {
		names = append(names, p.Path)
	}
	list := must.Have(json.Marshal(names))(t)
	reports := make(chan []string, 1)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(out)))
	mux.HandleFunc("GET /measure", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(strings.Replace(measure, "PAGES", string(list), 1)))
	})
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		wide := []string{"no report"}
		_ = json.NewDecoder(r.Body).Decode(&wide)
		reports <- wide
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	browser := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), server.URL+"/measure")
	browser.WaitDelay = 10 * time.Second
	must.Do(t, browser.Start())
	defer func() { stop(); _ = browser.Wait() }() // it is killed
	select {
	case wide := <-reports:
		for _, name := range wide {
			t.Error(name)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the browser has reported nothing")
	}
}

// The playground is part of the site.
func TestPlayground(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the command for the browser")
	}
	out := t.TempDir()
	must.Do(t, addPlayground(t.Context(), root, out))
	for _, name := range []string{"index.html", "apportion.wasm.gz"} {
		must.Have(os.Stat(filepath.Join(out, "playground", name)))(t)
	}
}
