// This file runs containers as processes.

package kubetest

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Process is a Run: the command of the first container, as a process of this machine, of the user that the pod says. Its output goes
// to a file in the folder.
func Process(dir string) Run {
	return func(ctx context.Context, p *corev1.Pod) int {
		c := &p.Spec.Containers[0]
		argv := append(append([]string{}, c.Command...), c.Args...)
		log, err := os.OpenFile(filepath.Join(dir, p.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return 128
		}
		defer log.Close()
		command := exec.CommandContext(ctx, argv[0], argv[1:]...)
		// A container has the pod's grace between the two signals.
		command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
		command.WaitDelay = 30 * time.Second
		if p.Spec.TerminationGracePeriodSeconds != nil {
			command.WaitDelay = time.Duration(*p.Spec.TerminationGracePeriodSeconds) * time.Second
		}
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOSTNAME=" + p.Name}
		for i := range c.Env {
			command.Env = append(command.Env, c.Env[i].Name+"="+valueOf(p, &c.Env[i]))
		}
		command.SysProcAttr = &syscall.SysProcAttr{Credential: credentialOf(p)}
		command.Dir, command.Stdout, command.Stderr = dir, log, log
		if command.Run() == nil {
			return 0
		}
		return max(1, command.ProcessState.ExitCode())
	}
}

// valueOf is the value of a variable: its text, or what the downward API says of an annotation of the pod or of its node.
func valueOf(p *corev1.Pod, v *corev1.EnvVar) string {
	if v.ValueFrom == nil || v.ValueFrom.FieldRef == nil {
		return v.Value
	}
	path := v.ValueFrom.FieldRef.FieldPath
	if key, is := strings.CutPrefix(path, "metadata.annotations['"); is {
		return p.Annotations[strings.TrimSuffix(key, "']")]
	}
	if path == "spec.nodeName" {
		return p.Spec.NodeName
	}
	return ""
}

// credentialOf is whom the first container runs as, as container runtimes have it: of group 0 where none is said; nil: nobody is.
func credentialOf(p *corev1.Pod) *syscall.Credential {
	pod, own := p.Spec.SecurityContext, p.Spec.Containers[0].SecurityContext
	pod = cmp.Or(pod, &corev1.PodSecurityContext{})
	own = cmp.Or(own, &corev1.SecurityContext{})
	uid, gid := cmp.Or(own.RunAsUser, pod.RunAsUser), cmp.Or(own.RunAsGroup, pod.RunAsGroup)
	if uid == nil {
		return nil
	}
	c := &syscall.Credential{Uid: uint32(*uid)}
	if gid != nil {
		c.Gid = uint32(*gid)
	}
	if pod.FSGroup != nil {
		c.Groups = []uint32{uint32(*pod.FSGroup)}
	}
	return c
}
