// This file plays a webhook that denies pods, or does not answer in time.

package kubernetes

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	admissionreviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion/examples/managertest/processes"
)

// webhook denies some pods, and answers for others too late.
type webhook struct {
	server *httptest.Server
	ended  chan struct{}

	mu   sync.Mutex
	draw *rand.Rand // nil: everything is let in
}

// newWebhook starts it, until the test ends.
func (b *bench) newWebhook() *webhook {
	w := &webhook{ended: make(chan struct{})}
	w.server = httptest.NewTLSServer(w)
	b.Cleanup(func() { close(w.ended); w.server.CloseClientConnections(); w.server.Close() })
	return w
}

// set has it deny by draws; nil: it lets everything in.
func (w *webhook) set(r *rand.Rand) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draw = r
}

// lateAnswer is longer than the API server waits.
const lateAnswer = 3 * time.Second

// ServeHTTP implements http.Handler: of four pods one is denied, and one not answered for in time.
func (w *webhook) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	var review admissionreviewv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(out, "no review", http.StatusBadRequest)
		return
	}
	drawn := 3
	w.mu.Lock()
	if w.draw != nil {
		drawn = w.draw.IntN(4)
	}
	w.mu.Unlock()
	if drawn == 1 {
		select {
		case <-time.After(lateAnswer):
		case <-w.ended:
		}
	}
	review.Response = &admissionreviewv1.AdmissionResponse{UID: review.Request.UID, Allowed: drawn != 0, Result: &metav1.Status{Message: "this pod is not liked"}}
	review.Request = nil
	out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(out).Encode(&review) // whoever asked is gone
}

// strictly does something while the webhook is asked for every pod.
func (b *bench) strictly(r *rand.Rand, do func()) {
	b.Helper()
	if b.strict == nil {
		b.strict = b.newWebhook()
	}
	b.strict.set(rand.New(rand.NewPCG(r.Uint64(), 0)))
	fail, none, seconds, url := admissionv1.Fail, admissionv1.SideEffectClassNone, int32(1), b.strict.server.URL
	hook := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "strict"}, Webhooks: []admissionv1.ValidatingWebhook{{
		Name: "strict.apportion.test", FailurePolicy: &fail, SideEffects: &none, TimeoutSeconds: &seconds, AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionv1.WebhookClientConfig{URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.strict.server.Certificate().Raw})},
		Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: inNamespace}}}}}
	hooks := b.cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	b.insist("the webhook is asked for", func(ctx context.Context) error {
		_, err := hooks.Create(ctx, hook, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	do()
	b.strict.set(nil)
	b.insist("the webhook is gone", func(ctx context.Context) error {
		err := hooks.Delete(ctx, hook.Name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// insist tries something until the API server takes it.
func (b *bench) insist(what string, do func(ctx context.Context) error) {
	b.Helper()
	processes.Eventually(b.Bench, what, 60*time.Second, func() bool {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		err := do(ctx)
		b.retried(err)
		return err == nil
	})
}
