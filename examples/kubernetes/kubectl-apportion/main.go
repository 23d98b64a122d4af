// This file reads what is asked, and of which cluster.

// Kubectl-apportion is a plugin of kubectl, which finds it by its name: it says of elastic Jobs why they have what they have, what
// the next decision would be, how badly free resources are broken up, and what would become of all of that if a node was drained,
// or a Job came or ended. It reads the API server, decides with the optimizer of the controller, and writes nothing.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apportion/apportion/examples/kubernetes/program"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var q query
	rest, err := q.parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = q.run(ctx, rest, os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// usage is what help begins with.
const usage = `Elastic Jobs of the controller: why they have what they have, and what would be.

  kubectl apportion explain JOB             why a Job has what it has
  kubectl apportion plan                    what a decision would give everybody now
  kubectl apportion fragmentation [KIND]    what is free in pieces, and what moving Jobs would bring
  kubectl apportion what-if [-drain NODE]... [-arrive FILE]... [-end JOB]...

`

// parse reads flags, which may stand anywhere, and returns the words between them.
func (q *query) parse(args []string, stderr io.Writer) ([]string, error) {
	flags := flag.NewFlagSet("kubectl apportion", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	rules, overrides := clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{}
	flags.StringVar(&rules.ExplicitPath, "kubeconfig", "", "the `file` that says how to reach the API server (default as kubectl)")
	flags.StringVar(&overrides.CurrentContext, "context", "", "its context")
	for _, name := range []string{"n", "namespace"} {
		flags.StringVar(&overrides.Context.Namespace, name, "", "the `namespace` of a Job without one (default as kubectl)")
	}
	q.settings.Kinds = snapshot.Kinds()
	program.DeclareKinds(flags, &q.settings.Kinds)
	flags.Float64Var(&q.settings.Theta1, "theta1", 0.2, "the controller's budget of unfairness")
	flags.Float64Var(&q.settings.Theta2, "theta2", 0.3, "the controller's budget of adjustments")
	flags.Func("drain", "in what-if, a `node` that jobs leave", collect(&q.change.drain))
	flags.Func("arrive", "in what-if, a `file` with an elastic Job that is submitted", collect(&q.change.arrive))
	flags.Func("end", "in what-if, a `Job` that ends", collect(&q.change.end))
	var words []string
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if args = flags.Args(); len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	q.config = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if len(words) == 0 {
		flags.Usage()
		return nil, flag.ErrHelp
	}
	return words, nil
}

// collect appends what a flag says, with commas or again and again.
func collect(to *[]string) func(string) error {
	return func(text string) error {
		*to = append(*to, strings.Split(text, ",")...)
		return nil
	}
}

// run answers.
func (q *query) run(ctx context.Context, words []string, w io.Writer) error {
	config, err := q.config.ClientConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	namespace, _, err := q.config.Namespace()
	if err != nil {
		return err
	}
	q.namespace = cmp.Or(namespace, "default")
	return q.answer(ctx, client, words, w)
}

// answer answers from what a client says.
func (q *query) answer(ctx context.Context, client kubernetes.Interface, words []string, w io.Writer) error {
	argument := ""
	switch {
	case len(words) > 2:
		return fmt.Errorf("%q: one word behind the command at most", words)
	case len(words) == 2:
		argument = words[1]
	}
	command := map[string]func(context.Context, *cluster, string, io.Writer) error{
		"explain": q.explain, "plan": q.plan, "fragmentation": q.fragmentation, "what-if": q.whatIf}[words[0]]
	if command == nil {
		return fmt.Errorf("%q: explain, plan, fragmentation or what-if", words[0])
	}
	if argument != "" && (words[0] == "plan" || words[0] == "what-if") {
		return fmt.Errorf("%q: %s is about all Jobs", argument, words[0])
	}
	c, err := read(ctx, client)
	if err != nil {
		return err
	}
	return command(ctx, c, argument, w)
}
