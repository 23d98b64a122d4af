// This file holds how much faster one accelerator computes than another, as measured, [Narayanan20] §2.1.

package main

import "github.com/apportion/apportion/examples/studies/measured"

// alike says which measured type of job stands for a model.
var alike = map[string]string{
	"cifar10": "ResNet-18 (batch size 128)", "imagenet": "ResNet-50 (batch size 64)", "yolov3": "ResNet-50 (batch size 16)",
	"bert": "Transformer (batch size 64)", "deepspeech2": "LM (batch size 20)", "ncf": "Recommendation (batch size 4096)",
}

// types are the accelerators of the mixed cluster.
var types = []string{"v100", "p100", "k80"}

// readRatios returns by accelerator and model how much faster one computes than a P100, for which the measured T4 is taken.
func readRatios() (map[string]map[string]float64, error) {
	rates := map[[2]string]float64{}
	for t, err := range measured.Throughputs() {
		if err != nil {
			return nil, err
		}
		if t.GPUs.Value == 1 {
			rates[[2]string{t.GPUModel, t.JobType}] = t.StepsPerSecond.Value
		}
	}
	ratios := map[string]map[string]float64{}
	for _, accelerator := range types {
		ratios[accelerator] = map[string]float64{}
		for model, job := range alike {
			ratios[accelerator][model] = rates[[2]string{accelerator, job}] / rates[[2]string{"p100", job}]
		}
	}
	return ratios, nil
}
