// This file draws pictures that take the colours of the page that they stand in, as SVG.

package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// A drawing is as wide as a phone, so that its letters are as large as those of the text there.
const (
	wide   = 360
	letter = 7.2 // the mean width of a letter in pixels
	row    = 26  // the height of a row of boxes
)

// drawing is a picture in the making. Colours are classes: c0 to c6 for applications in their order, idle for what nobody has.
type drawing struct {
	body   strings.Builder
	height float64
	names  []string // of what has a colour
}

func (d *drawing) class(name string) string {
	if name == "" {
		return "idle"
	}
	i := slices.Index(d.names, name)
	if i < 0 {
		i = len(d.names)
		d.names = append(d.names, name)
	}
	return fmt.Sprint("c", i%7)
}

func (d *drawing) text(x, y float64, anchor, text string) {
	fmt.Fprintf(&d.body, `<text x="%.5g" y="%.5g" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(text))
}

// heading begins a part.
func (d *drawing) heading(text string) {
	d.height += 22
	d.text(0, d.height-6, "start", text)
}

// part is a stretch of a row: a name, or none for what nobody has, and how much it is. unit, where it is positive, divides it.
type part struct {
	name string
	size float64
}

// parts draws a row of stretches behind a label; whole is what the full width stands for.
func (d *drawing) parts(label string, whole, unit float64, parts []part) {
	const left = 76
	y := d.height
	d.text(0, y+17, "start", label)
	x, scale := float64(left), (wide-left)/whole
	for _, p := range parts {
		class := d.class(p.name)
		pieces := 1
		if unit > 0 {
			pieces = int(math.Round(p.size / unit))
		}
		for i := range pieces {
			w := p.size / float64(pieces) * scale
			fmt.Fprintf(&d.body, `<rect class="%s" x="%.5g" y="%.5g" width="%.5g" height="%d" rx="2"/>`, class, x+1, y+2, max(w-2, 0), row-4)
			if name := p.name; i == 0 && name != "" && w > letter*float64(len(name)) {
				fmt.Fprintf(&d.body, `<text class="on" x="%.5g" y="%.5g" text-anchor="middle">%s</text>`, x+w/2, y+17, html.EscapeString(name))
			}
			x += w
		}
	}
	d.height += row
}

// legend names the colours.
func (d *drawing) legend() {
	d.height += 6
	x := 0.0
	for i, name := range d.names {
		w := 30 + 1.1*letter*float64(len(name))
		if x+w > wide {
			x, d.height = 0, d.height+20
		}
		fmt.Fprintf(&d.body, `<rect class="c%d" x="%.5g" y="%.5g" width="12" height="12" rx="2"/>`, i%7, x, d.height+3)
		d.text(x+17, d.height+14, "start", name)
		x += w
	}
	d.height += 22
}

// curve draws lines over the same values of x, which ascend, below each other's names; low and high are the ends of y.
func (d *drawing) curve(xs []float64, low, high float64, lines map[string][]float64, order []string) {
	const left, height = 40.0, 150.0
	top := d.height + 8
	at := func(x, y float64) (float64, float64) {
		return left + (x-xs[0])/(xs[len(xs)-1]-xs[0])*(wide-left-8), top + height - (y-low)/(high-low)*height
	}
	for _, y := range []float64{low, (low + high) / 2, high} {
		_, py := at(xs[0], y)
		fmt.Fprintf(&d.body, `<line class="grid" x1="%g" y1="%.5g" x2="%d" y2="%.5g"/>`, left, py, wide, py)
		d.text(left-5, py+4, "end", fmt.Sprintf("%.3g", y))
	}
	for _, x := range []float64{xs[0], xs[len(xs)-1]} {
		px, _ := at(x, low)
		d.text(px, top+height+16, "middle", fmt.Sprintf("%.3g", x))
	}
	for _, name := range order {
		var points []string
		for i, y := range lines[name] {
			px, py := at(xs[i], y)
			points = append(points, fmt.Sprintf("%.5g,%.5g", px, py))
		}
		fmt.Fprintf(&d.body, `<polyline class="%s" points="%s"/>`, d.class(name), strings.Join(points, " "))
	}
	d.height = top + height + 22
}

// svg is the picture, with a text for those who do not see it.
func (d *drawing) svg(says string) string {
	return fmt.Sprintf(`<figure><svg viewBox="0 0 %d %.5g" role="img" aria-label="%s">%s</svg><figcaption>%s</figcaption></figure>`+"\n",
		wide, d.height, html.EscapeString(says), d.body.String(), html.EscapeString(says))
}
