// This file tests what a profile may say.

package scheduler

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// with makes a plugin with these arguments.
func with(args runtime.Object) (*Plugin, error) {
	made, err := New(context.Background(), args, &handle{shared: informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0)})
	if err != nil {
		return nil, err
	}
	return made.(*Plugin), nil
}

// How long a pod of a gang waits is as a profile says, and a default where it says nothing.
func TestPatience(t *testing.T) {
	text := func(raw string) runtime.Object { return &runtime.Unknown{Raw: []byte(raw)} }
	member := pod("a", "1", 1, "g")
	member.Annotations = map[string]string{Gang: "2"}
	for _, c := range []struct {
		given runtime.Object
		want  time.Duration
	}{
		{nil, DefaultPatience},
		{text(""), DefaultPatience},
		{text("{}"), DefaultPatience},
		{&runtime.Unknown{Raw: []byte(`{"patience": "1s"}`), ContentType: runtime.ContentTypeJSON}, MinPatience},
		{text(`{"patience": "2m30s"}`), 150 * time.Second},
		{text(`{"patience": "15m"}`), MaxPatience},
	} {
		p, err := with(c.given)
		if err != nil {
			t.Errorf("%v: %v", c.given, err)
			continue
		}
		if _, patience := p.Permit(context.Background(), nil, member, "n1"); patience != c.want {
			t.Errorf("%v: a pod waits for %v, want %v", c.given, patience, c.want)
		}
	}
}

// What a profile says wrong ends the scheduler at its start, with the field.
func TestArgsRefused(t *testing.T) {
	for raw, want := range map[string]string{
		`{"patience": "0s"}`:               "patience is out of range: 0s",
		`{"patience": "-1m"}`:              "patience is out of range",
		`{"patience": "15m1s"}`:            "between 1s and 15m0s",
		`{"patience": 30}`:                 "patience",
		`{"patience": "long"}`:             "invalid duration",
		`{"patience": "1m", "order": "x"}`: "order",
		`[`:                                "the arguments of Apportion",
	} {
		if _, err := with(&runtime.Unknown{Raw: []byte(raw)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
	_, err := with(&runtime.Unknown{Raw: []byte(`{"patience": "1h"}`)})
	var field *apportion.FieldError
	if !errors.As(err, &field) || !errors.Is(err, apportion.ErrRange) || field.Item.ID != Name {
		t.Errorf("%v", err)
	}
	must.Fail(with(&corev1.Pod{}))(t, must.ErrAny, "a pod is taken for arguments")
}

// The configuration that is shipped says what the plugin takes.
func TestShippedArgs(t *testing.T) {
	file := must.Have(os.ReadFile("deploy/config.yaml"))(t)
	var config struct {
		Profiles []struct {
			PluginConfig []struct {
				Name string
				Args runtime.RawExtension
			}
		}
	}
	must.Do(t, yaml.Unmarshal(file, &config))
	if len(config.Profiles) != 1 || len(config.Profiles[0].PluginConfig) != 1 || config.Profiles[0].PluginConfig[0].Name != Name {
		t.Fatalf("%+v", config)
	}
	args := must.Have(readArgs(&runtime.Unknown{Raw: config.Profiles[0].PluginConfig[0].Args.Raw}))(t)
	must.Equal(t, args.Patience, (metav1.Duration{Duration: DefaultPatience}))
}
