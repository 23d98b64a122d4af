// This file lays out and draws the legend: lines of entries between the title and the plot.

package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// perLine is how many entries a line of the legend has at most; three have room for long names.
const perLine = 4

type entry struct {
	name  string
	thumb plot.Thumbnailer
}

// legend returns the drawing of one entry.
func (e entry) legend() plot.Legend {
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.ThumbnailWidth = vg.Points(22)
	legend.TextStyle.Font.Size = vg.Points(10)
	legend.Add(" "+e.name, e.thumb)
	return legend
}

// width returns the room that the entry needs, with a space behind it.
func (e entry) width() vg.Length {
	legend := e.legend()
	return legend.ThumbnailWidth + legend.TextStyle.Width(" ") + legend.TextStyle.Width(" "+e.name+"  ")
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
