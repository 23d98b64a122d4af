// This file holds learning curves that come with this package, for studies and tests.

package trace

import "embed"

//go:embed recorded/*.csv
var recorded embed.FS

// Recorded returns the steps and values of one of the curves that come with the package, by its file's
// name without ".csv". An unknown name is an fs.PathError.
func Recorded(name string) (steps, values []float64, err error) {
	file, err := recorded.Open("recorded/" + name + ".csv")
	if err != nil {
		return nil, nil, err
	}
	// What is embedded cannot fail to close.
	defer file.Close()
	// The curves were checked when they were recorded: every point has a step and a value.
	for point, err := range Curve(name, file) {
		if err != nil {
			return nil, nil, err
		}
		steps, values = append(steps, point.Step.Value), append(values, point.Value.Value)
	}
	return steps, values, nil
}
