// This file lays out and draws the legend: lines of entries between the title and the plot.

package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// thumb is the small picture beside the name.
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
