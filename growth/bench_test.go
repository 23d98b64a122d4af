// This file measures one classification.

package growth_test

import (
	"testing"
	"time"

	"github.com/apportion/apportion/growth"
)

var classifiers = []struct {
	name       string
	classifier growth.Classifier
}{
	{"threshold", growth.Threshold{Alpha: 0.05}},
	{"decline", growth.Decline{Alpha: 0.05}},
	{"prospect", growth.Prospect{Alpha: 0.05}},
}

// BenchmarkClassify is one reading added and judged.
func BenchmarkClassify(b *testing.B) {
	for _, row := range classifiers {
		b.Run("classifier="+row.name, func(b *testing.B) {
			b.ReportAllocs()
			var series growth.Series
			at, i := time.Duration(0), 1
			for b.Loop() {
				series.Add(at, 1/float64(i), growth.Used(0.5))
				if series.Measured() {
					row.classifier.Judge(&series)
				}
				at += time.Millisecond
				i++
			}
		})
	}
}

// BenchmarkJudge is the judgement alone, where it costs most: the history is as long as it gets
// (31 averages), and the newest reading completed one.
func BenchmarkJudge(b *testing.B) {
	series := seriesOf(falls(31, 1, 2, 0.5)...)
	for _, row := range classifiers {
		b.Run("classifier="+row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				row.classifier.Judge(series)
			}
		})
	}
}
