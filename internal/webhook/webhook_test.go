package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/webhook"
)

// ask is what a handler answers about an object written as YAML.
func ask(t *testing.T, path, kind, object string) *admissionv1.AdmissionResponse {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID: "u1", Name: "x", Kind: metav1.GroupVersionKind{Kind: kind}, Object: runtime.RawExtension{Raw: raw},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	webhook.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body))))
	var out admissionv1.AdmissionReview
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || out.Response == nil || out.Response.UID != "u1" {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return out.Response
}

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		why, kind, object string
		says              []string // none: it passes
	}{
		"Good": {
			why: "What is right passes.", kind: "Provisioner", object: "spec: {providerRef: {name: default}, ttlSecondsAfterEmpty: 10}",
		},
		"AllAtOnce": {
			why: "All mistakes are said, not the first.", kind: "Provisioner",
			object: "spec: {ttlSecondsAfterEmpty: 10, consolidation: {enabled: true}, labels: {kubernetes.io/x: value}}",
			says:   []string{"spec.providerRef", "spec.ttlSecondsAfterEmpty", "kubernetes.io/x"},
		},
		"Template": {
			why: "An AWSNodeTemplate is judged as well.", kind: "AWSNodeTemplate", object: "spec: {subnetSelector: {}, securityGroupSelector: {a: b}}", says: []string{"spec.subnetSelector"},
		},
		"Going": {
			why: "What is being deleted may have its finalizers taken off, right or not.", kind: "Provisioner", object: "metadata: {deletionTimestamp: \"2026-01-01T00:00:00Z\"}",
		},
		"Broken": {
			why: "What cannot be read is refused with where.", kind: "Provisioner", object: "spec: {weight: heavy}", says: []string{`provisioner "x"`, "weight"},
		},
		"EndlessLimit": {
			why: "Kubernetes' reading of such an exponent does not end: it is refused before.", kind: "Provisioner",
			object: "spec: {providerRef: {name: default}, limits: {resources: {cpu: 1E36854253685363}}}", says: []string{"spec.limits.resources.cpu", "two digits"},
		},
		"EndlessSize": {
			why: "The same of a volume's size.", kind: "AWSNodeTemplate",
			object: "spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 1E36854253685363}}]}", says: []string{"volumeSize", "two digits"},
		},
		"Other": {why: "What it does not know passes.", kind: "ConfigMap", object: "data: {}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ask(t, "/validate", test.kind, test.object)
			if got.Allowed != (len(test.says) == 0) {
				t.Fatalf("%s\nallowed is %v: %v", test.why, got.Allowed, got.Result)
			}
			for _, want := range test.says {
				if !strings.Contains(got.Result.Message, want) {
					t.Errorf("%s\nno %q in %s", test.why, want, got.Result.Message)
				}
			}
		})
	}
}

func TestCanonical(t *testing.T) {
	tests := map[string]struct{ why, object, patch string }{
		"Number":    {"A number is a quantity, and 2000 is 2k.", "spec: {limits: {resources: {cpu: 2000}}}", `[{"op":"replace","path":"/spec/limits/resources/cpu","value":"2k"}]`},
		"Slash":     {"A slash in a name is none of the path.", "spec: {limits: {resources: {nvidia.com/gpu: 1}}}", `[{"op":"replace","path":"/spec/limits/resources/nvidia.com~1gpu","value":"1"}]`},
		"Reserved":  {"Amounts for the kubelet are quantities, too.", "spec: {kubeletConfiguration: {kubeReserved: {memory: 1024Mi}}}", `[{"op":"replace","path":"/spec/kubeletConfiguration/kubeReserved/memory","value":"1Gi"}]`},
		"Canonical": {"What is canonical stays as it is.", "spec: {limits: {resources: {cpu: 2k}}}", ""},
		"Nothing":   {"Nothing is filled in.", "spec: {providerRef: {name: default}}", ""},
		"Broken":    {"What cannot be read is left to validation.", "spec: {limits: {resources: {cpu: many}}}", ""},
		"Endless":   {"So is what Kubernetes would never have read.", "spec: {limits: {resources: {cpu: 1E36854253685363}}}", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ask(t, "/default", "Provisioner", test.object)
			if !got.Allowed {
				t.Errorf("%s\nit was refused", test.why)
			}
			if diff := cmp.Diff(test.patch, string(got.Patch)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", test.why, diff)
			}
		})
	}
}

func TestNoReview(t *testing.T) {
	w := httptest.NewRecorder()
	webhook.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/validate", strings.NewReader("{}")))
	if w.Code != http.StatusBadRequest {
		t.Errorf("status %d, want 400", w.Code)
	}
}

// installed is what the chart makes for a webhook.
func installed() client.Client {
	return fake.NewClientBuilder().WithObjects(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "karpenter", Name: "karpenter-cert"}},
		&registrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: webhook.Mutating}, Webhooks: []registrationv1.MutatingWebhook{{Name: webhook.Mutating}}},
		&registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: webhook.Validating}, Webhooks: []registrationv1.ValidatingWebhook{{Name: webhook.Validating}}},
	).Build()
}

func bundle(t *testing.T, c client.Client) (authority, secret string) {
	t.Helper()
	var v registrationv1.ValidatingWebhookConfiguration
	var m registrationv1.MutatingWebhookConfiguration
	var s corev1.Secret
	for key, o := range map[client.ObjectKey]client.Object{
		{Name: webhook.Validating}: &v, {Name: webhook.Mutating}: &m, {Namespace: "karpenter", Name: "karpenter-cert"}: &s,
	} {
		if err := c.Get(t.Context(), key, o); err != nil {
			t.Fatal(err)
		}
	}
	if string(v.Webhooks[0].ClientConfig.CABundle) != string(m.Webhooks[0].ClientConfig.CABundle) {
		t.Error("the two configurations trust different authorities")
	}
	return string(v.Webhooks[0].ClientConfig.CABundle), string(s.Data["ca-cert.pem"])
}

// A certificate is made once, shared by all replicas, and made again before it ends.
func TestCertificate(t *testing.T) {
	c := installed()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(now time.Time) *webhook.Server {
		return &webhook.Server{Client: c, Service: "karpenter", Namespace: "karpenter", Log: logr.Discard(), Now: clock.At(now)}
	}
	renew := func(now time.Time) string {
		t.Helper()
		if err := at(now).Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		authority, secret := bundle(t, c)
		if authority == "" || authority != secret {
			t.Fatalf("the API server trusts %q, the secret says %q", authority, secret)
		}
		return authority
	}
	first := renew(start)
	if renew(start.Add(200*24*time.Hour)) != first {
		t.Error("a good certificate was replaced")
	}
	if renew(start.Add(310*24*time.Hour)) == first {
		t.Error("a certificate that ends soon was kept")
	}
	if renew(start.Add(3000*24*time.Hour)) == first {
		t.Error("a certificate that ended was kept")
	}
}

// Another replica serves the certificate of before until it looks into the
// Secret again, which the API server trusts as long as it is good.
func TestTrustOverlaps(t *testing.T) {
	c := installed()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 4 {
		var secret corev1.Secret
		key := client.ObjectKey{Namespace: "karpenter", Name: "karpenter-cert"}
		if err := c.Get(t.Context(), key, &secret); err != nil {
			t.Fatal(err)
		}
		served := secret.Data["server-cert.pem"]
		s := &webhook.Server{Client: c, Service: "karpenter", Namespace: "karpenter", Log: logr.Discard(), Now: clock.At(now)}
		if err := s.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		authority, _ := bundle(t, c)
		if n := strings.Count(authority, "BEGIN CERTIFICATE"); n > 2 {
			t.Errorf("%d authorities are trusted", n)
		}
		if len(served) > 0 {
			block, _ := pem.Decode(served)
			leaf, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			pool := x509.NewCertPool()
			pool.AppendCertsFromPEM([]byte(authority))
			if _, err := leaf.Verify(x509.VerifyOptions{DNSName: "karpenter.karpenter.svc", Roots: pool, CurrentTime: now}); err != nil {
				t.Errorf("what other replicas serve is not trusted any more: %v", err)
			}
		}
		now = now.Add(310 * 24 * time.Hour)
	}
}

// Without the chart's objects there is no webhook, and that is an error that is said, not the end.
func TestNoSecret(t *testing.T) {
	s := &webhook.Server{Client: fake.NewClientBuilder().Build(), Service: "karpenter", Namespace: "karpenter", Log: logr.Discard(), Now: clock.Wall}
	if err := s.Renew(t.Context()); err == nil || !strings.Contains(err.Error(), "karpenter-cert") {
		t.Errorf("err = %v, want one that names the secret", err)
	}
}

// The API server reaches it by the name of its Service, with the authority it was told, and with no other.
func TestServe(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	c := installed()
	taken := make(chan struct{}, 10)
	log := funcr.New(func(_, text string) {
		if strings.Contains(text, "cannot be served") {
			taken <- struct{}{}
		}
	}, funcr.Options{})
	s := &webhook.Server{Client: c, Host: "127.0.0.1", Port: port, Service: "karpenter", Namespace: "karpenter", Log: log, Now: clock.Wall}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Start(ctx) }()
	<-taken // by the replica before it, which ends now
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	var conn *tls.Conn
	for conn == nil && time.Now().Before(deadline) {
		var told registrationv1.ValidatingWebhookConfiguration // the second to be told
		if err := c.Get(ctx, client.ObjectKey{Name: webhook.Validating}, &told); err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(told.Webhooks[0].ClientConfig.CABundle)
		dialer := tls.Dialer{Config: &tls.Config{RootCAs: pool, ServerName: "karpenter.karpenter.svc"}}
		if raw, err := dialer.DialContext(ctx, "tcp", free.Addr().String()); err == nil {
			conn, _ = raw.(*tls.Conn)
		}
	}
	if conn == nil {
		t.Fatal("it cannot be reached with the authority that the API server was told")
	}
	conn.Close()
	if _, err := tls.Dial("tcp", free.Addr().String(), &tls.Config{ServerName: "karpenter.karpenter.svc"}); err == nil {
		t.Error("strangers would trust it")
	}
	stop()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
}
