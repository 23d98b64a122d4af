// This file writes figures as SVG and PNG, with title and legend above the plot.

package main

import (
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	figureWidth  = 16 * vg.Centimeter
	figureHeight = 10.5 * vg.Centimeter
	margin       = 0.3 * vg.Centimeter
	// headLine is the height of each line above the plot: title, legend, note.
	headLine  = 0.6 * vg.Centimeter
	headLines = 3
	pngDPI    = 144
)

// formats are the files that every figure is written to.
var formats = []string{"png", "svg"}

// summaryName is the picture of several figures; it leaves out the detail of figure 8.
const summaryName = "summary"

// draw writes every figure of the study, and a summary, to a folder of the study's own under out.
// It returns that folder and the names of the figures.
func (s *study) draw(out string) (folder string, names []string, err error) {
	folder = filepath.Join(out, s.name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", nil, err
	}
	figures, err := s.figures()
	if err != nil {
		return "", nil, err
	}
	pictures := map[string][][]*figure{summaryName: {{figures[0], figures[1]}, {figures[3], figures[4]}}}
	names = []string{summaryName}
	for _, f := range figures {
		pictures[f.name] = [][]*figure{{f}}
		names = append(names, f.name)
	}
	for _, name := range names {
		for _, format := range formats {
			if err := write(filepath.Join(folder, name+"."+format), format, pictures[name]); err != nil {
				return "", nil, err
			}
		}
	}
	return folder, names, nil
}

// newCanvas returns an empty picture.
func newCanvas(width, height vg.Length, format string) vg.CanvasWriterTo {
	if format == "svg" {
		return vgsvg.New(width, height)
	}
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))}
}

// write draws rows of figures into one file.
func write(path, format string, rows [][]*figure) (err error) {
	height, width := figureHeight*vg.Length(len(rows)), figureWidth*vg.Length(len(rows[0]))
	canvas := newCanvas(width, height, format)
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

// draw draws the figure into a cell.
func (f *figure) draw(cell draw.Canvas) {
	cell = draw.Crop(cell, margin, -margin, margin, -margin)
	f.plot.Draw(draw.Crop(cell, 0, 0, 0, -headLines*headLine))

	text := f.plot.Title.TextStyle
	text.XAlign, text.YAlign = draw.XLeft, draw.YTop
	text.Font.Size = vg.Points(13)
	cell.FillText(text, vg.Point{X: cell.Min.X, Y: cell.Max.Y}, f.title)

	strip := draw.Crop(cell, 0, 0, cell.Max.Y-cell.Min.Y-2*headLine, -headLine)
	each := (strip.Max.X - strip.Min.X) / vg.Length(len(policyNames))
	for place, e := range f.entries {
		legend := plot.NewLegend()
		legend.Top, legend.Left = true, true
		legend.ThumbnailWidth = vg.Points(28)
		legend.Add(" "+e.name, e.thumb)
		legend.Draw(draw.Crop(strip, each*vg.Length(place), 0, 0, 0))
	}

	text.Font.Size, text.Color = vg.Points(10), color.Gray{90}
	cell.FillText(text, vg.Point{X: cell.Min.X, Y: cell.Max.Y - 2*headLine}, f.note)
}
