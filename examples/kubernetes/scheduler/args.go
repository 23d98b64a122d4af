// This file implements Args: what a profile may say of the plugin.

package scheduler

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/apportion/apportion"
)

// Name is the plugin's name in profiles.
const Name = "Apportion"

// Args are the plugin's in the pluginConfig of a scheduler's configuration. Nothing said is the zero Args.
type Args struct {
	// Patience is how long a pod of a gang waits for the others, "45s" or "2m". Then all of them give their places back. At
	// least a second, at most MaxPatience; absent: DefaultPatience.
	Patience metav1.Duration `json:"patience,omitempty"`
}

// Bounds of Args.Patience. The scheduler itself lets no pod wait for longer than MaxPatience, nor does it say so.
const (
	DefaultPatience = 30 * time.Second
	MinPatience     = time.Second
	MaxPatience     = 15 * time.Minute
)

// readArgs reads what a scheduler hands a plugin: text that nobody has looked at, or nothing.
func readArgs(given runtime.Object) (Args, error) {
	args := Args{Patience: metav1.Duration{Duration: DefaultPatience}}
	if text, is := given.(*runtime.Unknown); is {
		if err := yaml.UnmarshalStrict(text.Raw, &args); err != nil {
			return args, fmt.Errorf("the arguments of %s: %w", Name, err)
		}
	} else if given != nil {
		return args, fmt.Errorf("the arguments of %s are a %T", Name, given)
	}
	if p := args.Patience.Duration; p < MinPatience || p > MaxPatience {
		return args, &apportion.FieldError{Item: apportion.Item{Kind: "plugin", ID: Name}, Field: "patience", Err: apportion.ErrRange,
			Detail: fmt.Sprintf("%s, which is not between %s and %s", p, MinPatience, MaxPatience)}
	}
	return args, nil
}
