// This file holds the thesis' workloads for one worker, [Zheng] §6.1, Table 6.1.

package main

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/flowcon/noisy"
	"github.com/apportion/apportion/placement/sim"
)

// The first three do the work that the thesis' times without limits imply: under even sharing
// MNIST-T is done 84.7 s, MNIST-P 240.5 s and VAE-P 394.0 s after they started (§6.1.3). The others
// are our choice, such that ten random jobs take about the 1385 s of §6.1.5; that LSTM-CFC uses
// 19 % of the worker is in §6.1.4.
var (
	vaeP   = noisy.NewModel("VAE-P", "deepobs_mnist_vae_adam_best", 259634*time.Millisecond, 1)
	mnistP = noisy.NewModel("MNIST-P", "deepobs_cifar10_3c3d_gradientdescent_best", 106133*time.Millisecond, 1)
	mnistT = noisy.NewModel("MNIST-T", "deepobs_svhn_wrn164_momentum_best", 28233*time.Millisecond, 1)

	vaeT    = noisy.NewModel("VAE-T", "deepobs_fmnist_vae_momentum_best", 210*time.Second, 1)
	lstmCFC = noisy.NewModel("LSTM-CFC", "deepobs_tolstoi_char_rnn_momentum_best", 140*time.Second, 0.19)
	lstmCRF = noisy.NewModel("LSTM-CRF", "mlperf_rnnt_a100", 150*time.Second, 0.8)
	biRNN   = noisy.NewModel("Bi-RNN", "algoperf_librispeech_deepspeech_baseline_01", 100*time.Second, 1)
	gru     = noisy.NewModel("GRU", "pollux_deepspeech2_bs20", 120*time.Second, 1)
)

// The jobs of the fixed schedule, of the five random jobs, and those that are drawn from for more.
var (
	fixedModels = []noisy.Model{vaeP, mnistP, mnistT}
	fiveModels  = []noisy.Model{lstmCFC, vaeP, vaeT, mnistP, gru}
	allModels   = []noisy.Model{vaeP, vaeT, mnistP, mnistT, lstmCFC, lstmCRF, biRNN, gru}
)

// scenario puts models on one worker.
func scenario(models []noisy.Model, arrivals []time.Duration) (*sim.Scenario, error) {
	s := &sim.Scenario{Kinds: apportion.Kinds{"cpu"}, Servers: []apportion.Server{{ID: "worker", Capacity: apportion.Resources{sim.Whole}}}, Law: sim.Shared{}}
	for i, m := range models {
		j, err := m.Job(i+1, arrivals[i])
		if err != nil {
			return nil, err
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s, nil
}

// fixedSchedule starts VAE at 0 s, MNIST-P at 40 s, MNIST-T at 80 s.
func fixedSchedule() (*sim.Scenario, error) {
	return scenario(fixedModels, []time.Duration{0, 40 * time.Second, 80 * time.Second})
}

// randomSpan is the time in which random jobs are submitted.
const randomSpan = 200 * time.Second

// randomSchedule submits n jobs at random times, in the order of their numbers: the five models of
// §6.1.4 in a random order, or models drawn from all of Table 6.1.
// Arrivals are whole milliseconds, as the tables round to tenths.
func randomSchedule(n int, seed uint64) (*sim.Scenario, error) {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	models := append([]noisy.Model(nil), fiveModels...)
	random.Shuffle(len(models), func(i, j int) { models[i], models[j] = models[j], models[i] })
	if n != len(models) {
		models = models[:0]
		for range n {
			models = append(models, allModels[random.IntN(len(allModels))])
		}
	}
	arrivals := make([]time.Duration, n)
	for i := range arrivals {
		arrivals[i] = time.Duration(random.Int64N(int64(randomSpan/time.Millisecond))) * time.Millisecond
	}
	slices.Sort(arrivals)
	return scenario(models, arrivals)
}
