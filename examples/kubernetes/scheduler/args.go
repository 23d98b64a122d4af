// This file implements Args: what a profile may say of the plugin.

package scheduler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/apportion/apportion"
)

// Name is the plugin's name in profiles.
const Name = "Apportion"

// Args are the plugin's in the pluginConfig of a scheduler's configuration. Nothing said is the zero Args.
type Args struct {
	// Patience is how long a pod of a gang waits for the others, "45s" or "2m". Then all of them give their places back. At
	// least a second, at most MaxPatience; absent: DefaultPatience.
	Patience *metav1.Duration `json:"patience,omitempty"`
}

// Bounds of Args.Patience. The scheduler itself lets no pod wait for longer than MaxPatience, nor does it say so.
const (
	DefaultPatience = 30 * time.Second
	MinPatience     = time.Second
	MaxPatience     = 15 * time.Minute
)

// readArgs reads what a scheduler hands a plugin: text that nobody has looked at, or nothing.
func readArgs(given runtime.Object) (Args, error) {
	var args Args
	switch given := given.(type) {
	case nil:
	case *runtime.Unknown:
		if len(given.Raw) == 0 {
			break
		}
		if given.ContentType != "" && given.ContentType != runtime.ContentTypeJSON {
			return args, fmt.Errorf("the arguments of %s are %s, not JSON", Name, given.ContentType)
		}
		text := json.NewDecoder(bytes.NewReader(given.Raw))
		text.DisallowUnknownFields()
		if err := text.Decode(&args); err != nil {
			return args, fmt.Errorf("the arguments of %s: %w", Name, err)
		}
	default:
		return args, fmt.Errorf("the arguments of %s are a %T", Name, given)
	}
	if args.Patience == nil {
		args.Patience = &metav1.Duration{Duration: DefaultPatience}
	}
	if p := args.Patience.Duration; p < MinPatience || p > MaxPatience {
		return args, &apportion.FieldError{Item: apportion.Item{Kind: "plugin", ID: Name}, Field: "patience", Err: apportion.ErrRange,
			Detail: fmt.Sprintf("%s, which is not between %s and %s", p, MinPatience, MaxPatience)}
	}
	return args, nil
}
