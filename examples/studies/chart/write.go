// This file writes figures to files, one or several in a picture.

package chart

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A figure has the width of a column of text, at twice the density of a screen.
const (
	figureWidth  = 16 * vg.Centimeter
	figureHeight = 10.5 * vg.Centimeter
	margin       = 0.3 * vg.Centimeter
	// headLine is the height of each line above the plot: the title, and the legend's.
	headLine = 0.6 * vg.Centimeter
	pngDPI   = 144
)

// Formats are the files that every picture is written to.
var Formats = []string{"png", "svg"}

// Write writes every figure to a file of its own in each format, and all of them but details
// together to "summary", two in a row. It makes the folder if need be and returns the names.
// An error may leave some of the files. The names are without endings, the summary's first.
func Write(folder string, figures []*Figure) ([]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	var all [][]*Figure
	names := []string{"summary"}
	pictures := map[string][][]*Figure{}
	for _, f := range figures {
		if f.drawReferences(); f.err != nil {
			return nil, fmt.Errorf("figure %s: %w", f.name, f.err)
		}
		pictures[f.name] = [][]*Figure{{f}}
		names = append(names, f.name)
		if f.Detail {
			continue
		}
		if n := len(all); n == 0 || len(all[n-1]) == 2 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], f)
	}
	pictures["summary"] = all
	for _, name := range names {
		for _, format := range Formats {
			if err := write(filepath.Join(folder, name+"."+format), format, pictures[name]); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// Publish is Write, and says on w which figures are where.
func Publish(w io.Writer, folder string, figures ...*Figure) error {
	names, err := Write(folder, figures)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Figures, PNG and SVG, in %s: %s\n", folder, strings.Join(names, ", "))
	return err
}

// write draws rows of figures into one file.
func write(path, format string, rows [][]*Figure) (err error) {
	height, width := figureHeight*vg.Length(len(rows)), figureWidth*vg.Length(len(rows[0]))
	var canvas vg.CanvasWriterTo = vgsvg.New(width, height)
	if format == "png" {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))}
	}
	page := draw.New(canvas)
	for r, row := range rows {
		for c, f := range row {
			f.draw(draw.Crop(page, figureWidth*vg.Length(c), figureWidth*vg.Length(c+1)-width,
				height-figureHeight*vg.Length(r+1), -figureHeight*vg.Length(r)))
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := canvas.WriteTo(file); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// draw draws the figure into a cell: title, legend, note, plot.
func (f *Figure) draw(cell draw.Canvas) {
	cell = draw.Crop(cell, margin, -margin, margin, -margin)
	columns := f.columns(cell.Max.X - cell.Min.X)
	lines := (len(f.entries) + len(columns) - 1) / len(columns)
	if f.Note != "" {
		lines++
	}
	f.plot.Draw(draw.Crop(cell, 0, 0, 0, -headLine*vg.Length(lines+1)))

	text := f.plot.Title.TextStyle
	text.XAlign, text.YAlign = draw.XLeft, draw.YTop
	text.Font.Size = vg.Points(13)
	cell.FillText(text, vg.Point{X: cell.Min.X, Y: cell.Max.Y}, f.title)

	if f.Note != "" {
		note := text
		note.Font.Size, note.Color = vg.Points(10), color.Gray{90}
		cell.FillText(note, vg.Point{X: cell.Min.X, Y: cell.Max.Y - headLine*vg.Length(lines)}, f.Note)
	}
	f.drawLegend(cell, columns)
}

// columns returns where the columns of the legend begin: at equal distances, or behind the one before
// where that needs more. There are at most perLine, fewer if that is too wide, at least one.
func (f *Figure) columns(width vg.Length) []vg.Length {
	for n := min(perLine, max(3, len(f.entries))); ; n-- {
		begin := make([]vg.Length, n+1) // the last is where all end
		for c := range n {
			end := begin[c]
			if c+1 < n {
				end = max(end, width*vg.Length(c+1)/vg.Length(n))
			}
			for i := c; i < len(f.entries); i += n {
				end = max(end, begin[c]+f.entries[i].width())
			}
			begin[c+1] = end
		}
		if n == 1 || begin[n] <= width {
			return begin[:n]
		}
	}
}

// drawLegend draws the entries into a cell, below its first line.
func (f *Figure) drawLegend(cell draw.Canvas, columns []vg.Length) {
	for i, e := range f.entries {
		legend := e.legend()
		legend.Draw(draw.Crop(cell, columns[i%len(columns)], 0, 0, -headLine*vg.Length(1+i/len(columns))))
	}
}

// perLine is how many entries a line of the legend has at most; three have room for long names.
const perLine = 4
