// This file implements strategy: the part of one job in the joint decision of a controller.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad-autoscaler/plugins/base"
	autoscaler "github.com/hashicorp/nomad-autoscaler/plugins/strategy"
	"github.com/hashicorp/nomad-autoscaler/sdk"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
)

// name is the plugin's, by which checks ask for it.
const name = "apportion"

// The keys of the plugin's own configuration, and that of a check.
const (
	keyURL       = "url"
	keyTokenFile = "token_file"
	keyJob       = "job"
)

// patience is how long a decision may take to come, and maxDecision how many bytes it may have.
const (
	patience    = 10 * time.Second
	maxDecision = 64 << 20
)

// strategy implements autoscaler.Strategy. The autoscaler calls it from several goroutines.
type strategy struct {
	mu sync.Mutex
	// url is that of the decisions; tokenFile has the token to show for them.
	url, tokenFile string
}

var _ autoscaler.Strategy = (*strategy)(nil)

// PluginInfo implements base.Base.
func (*strategy) PluginInfo() (*base.PluginInfo, error) {
	return &base.PluginInfo{Name: name, PluginType: sdk.PluginTypeStrategy}, nil
}

// SetConfig implements base.Base: the autoscaler does not start with an error.
func (s *strategy) SetConfig(config map[string]string) error {
	address, err := url.Parse(config[keyURL])
	if err != nil {
		return fmt.Errorf("%s: %w", keyURL, err)
	}
	if address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return fmt.Errorf("%s = %q: the address of a controller is needed, as http://127.0.0.1:7190", keyURL, config[keyURL])
	}
	if _, err := os.ReadFile(config[keyTokenFile]); err != nil {
		return fmt.Errorf("%s: %w", keyTokenFile, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.url, s.tokenFile = address.JoinPath("decision").String(), config[keyTokenFile]
	return nil
}

// Run implements autoscaler.Strategy. It needs no metric. An error changes nothing: what runs goes on as it is.
func (s *strategy) Run(eval *sdk.ScalingCheckEvaluation, count int64) (*sdk.ScalingCheckEvaluation, error) {
	job := eval.Check.Strategy.Config[keyJob]
	if job == "" {
		return nil, fmt.Errorf("the check's strategy does not say which %s it is about", keyJob)
	}
	taken, err := s.decision()
	if err != nil {
		return nil, err
	}
	want, why, err := partOf(taken, job)
	if err != nil {
		return nil, err
	}
	switch {
	case want > count:
		eval.Action.Direction = sdk.ScaleDirectionUp
	case want < count:
		eval.Action.Direction = sdk.ScaleDirectionDown
	default:
		eval.Action.Direction = sdk.ScaleDirectionNone
	}
	eval.Action.Count, eval.Action.Reason = want, why
	return eval, nil
}

// decision asks for the newest decision.
func (s *strategy) decision() (*controller.Taken, error) {
	s.mu.Lock()
	address, file := s.url, s.tokenFile
	s.mu.Unlock()
	token, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxDecision))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %.200s", address, response.Status, text)
	}
	taken := &controller.Taken{}
	if err := json.Unmarshal(text, taken); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return taken, nil
}

// partOf returns how many containers a decision gives a job, and why.
func partOf(taken *controller.Taken, job string) (n int64, why string, err error) {
	switch {
	case taken.Fault != "":
		return 0, "", fmt.Errorf("no decision could be taken: %s", taken.Fault)
	case taken.Decision == nil || taken.Problem == nil:
		return 0, "", errors.New("nothing was decided yet")
	case !slices.ContainsFunc(taken.Problem.Applications, func(a alloc.Application) bool { return a.ID == job }):
		return 0, "", fmt.Errorf("the decision of %s is not about job %q", taken.At.Format(time.TimeOnly), job)
	}
	for _, w := range slices.Concat(taken.Decision.Waiting, taken.Decision.Suspended) {
		if w.ID == job {
			return 0, "it waits: " + w.Reason.Text, nil
		}
	}
	n = taken.Decision.Allocation.Containers(job)
	return n, fmt.Sprintf("the joint decision of %s on %d jobs gives it %d containers", taken.At.Format(time.TimeOnly), len(taken.Problem.Applications), n), nil
}
