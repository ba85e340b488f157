package extension

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/clock"
)

// Where the API server says by which certificate it is known, and in which headers it names callers.
const (
	frontNamespace = "kube-system"
	frontName      = "extension-apiserver-authentication"
)

const (
	// frontFresh is how long that is used before it is read again.
	frontFresh = time.Minute
	// reviewFresh is how long what a caller may read is remembered: a right that is taken away lasts so much longer.
	reviewFresh = 30 * time.Second
	// mostReviews is how many such answers are remembered.
	mostReviews = 4096
)

// caller is who asks, by the API server's word.
type caller struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string]authorizationv1.ExtraValue
}

// front is how the API server proves that a request comes from it.
type front struct {
	roots *x509.CertPool
	names []string // of its certificate; none: any
	read  time.Time

	users, uids, groups, extras []string // headers; of extras their prefixes
}

// permissions knows callers and what they may read.
type permissions struct {
	client client.Client
	now    clock.Now

	mu      sync.Mutex
	front   front
	reviews map[string]review
}

// review is what was said about a right.
type review struct {
	allowed bool
	until   time.Time
}

// errNotProven is said of requests that do not come from the API server.
var errNotProven = errors.New("this is answered through the API server alone, which says who the caller is: kubectl get --raw /apis/" + Group + "/" + Version)

// caller returns who asks.
func (d *permissions) caller(r *http.Request) (caller, error) {
	f, err := d.known(r.Context())
	if err != nil {
		return caller{}, err
	}
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return caller{}, errNotProven
	}
	shown := r.TLS.PeerCertificates
	between := x509.NewCertPool()
	for _, c := range shown[1:] {
		between.AddCert(c)
	}
	if _, err := shown[0].Verify(x509.VerifyOptions{Roots: f.roots, Intermediates: between, CurrentTime: d.now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		return caller{}, errNotProven
	}
	if len(f.names) > 0 && !slices.Contains(f.names, shown[0].Subject.CommonName) {
		return caller{}, errNotProven
	}
	out := caller{Extra: map[string]authorizationv1.ExtraValue{}}
	for _, h := range f.users {
		if out.Name = r.Header.Get(h); out.Name != "" {
			break
		}
	}
	if out.Name == "" {
		return caller{}, errNotProven
	}
	for _, h := range f.uids {
		if out.UID = r.Header.Get(h); out.UID != "" {
			break
		}
	}
	for _, h := range f.groups {
		out.Groups = append(out.Groups, r.Header.Values(h)...)
	}
	for _, prefix := range f.extras {
		for h, values := range r.Header {
			if len(h) > len(prefix) && strings.EqualFold(h[:len(prefix)], prefix) {
				key := strings.ToLower(h[len(prefix):])
				if plain, err := url.PathUnescape(key); err == nil {
					key = plain
				}
				out.Extra[key] = append(out.Extra[key], values...)
			}
		}
	}
	return out, nil
}

// known returns how the API server proves itself. What was read last is used while it cannot be read again.
func (d *permissions) known(ctx context.Context) (front, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.front.roots != nil && d.now.Since(d.front.read) < frontFresh {
		return d.front, nil
	}
	f, err := readFront(ctx, d.client)
	if err != nil {
		if d.front.roots != nil {
			return d.front, nil
		}
		return front{}, err
	}
	f.read = d.now()
	d.front = f
	return f, nil
}

func readFront(ctx context.Context, c client.Client) (front, error) {
	config := &corev1.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: frontNamespace, Name: frontName}, config); err != nil {
		return front{}, fmt.Errorf("read by which certificate the API server is known (ConfigMap %s/%s): %w", frontNamespace, frontName, err)
	}
	f := front{roots: x509.NewCertPool()}
	if !f.roots.AppendCertsFromPEM([]byte(config.Data["requestheader-client-ca-file"])) {
		return front{}, fmt.Errorf("ConfigMap %s/%s has no requestheader-client-ca-file: the API server has no aggregation layer; set its --requestheader-client-ca-file", frontNamespace, frontName)
	}
	var err error
	list := func(key string, to *[]string) {
		if text := config.Data[key]; text != "" {
			err = errors.Join(err, json.Unmarshal([]byte(text), to))
		}
	}
	list("requestheader-allowed-names", &f.names)
	list("requestheader-username-headers", &f.users)
	list("requestheader-uid-headers", &f.uids)
	list("requestheader-group-headers", &f.groups)
	list("requestheader-extra-headers-prefix", &f.extras)
	if err != nil {
		return front{}, fmt.Errorf("read ConfigMap %s/%s: %w", frontNamespace, frontName, err)
	}
	return f, nil
}

// mayList reports whether a caller may list the pods of a namespace; empty: of all.
func (d *permissions) mayList(ctx context.Context, who caller, namespace string) (bool, error) {
	data, err := json.Marshal(struct {
		Who       caller
		Namespace string
	}{who, namespace})
	if err != nil {
		return false, fmt.Errorf("tell callers apart: %w", err)
	}
	key := string(data)
	d.mu.Lock()
	got, ok := d.reviews[key]
	d.mu.Unlock()
	if ok && d.now().Before(got.until) {
		return got.allowed, nil
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: who.Name, UID: who.UID, Groups: who.Groups, Extra: who.Extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Version: "v1", Resource: "pods", Namespace: namespace},
	}}
	if err := d.client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("ask what %q may read: %w", who.Name, err)
	}
	d.remember(key, review.Status.Allowed)
	return review.Status.Allowed, nil
}

func (d *permissions) remember(key string, allowed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if len(d.reviews) >= mostReviews {
		for k, r := range d.reviews {
			if !now.Before(r.until) {
				delete(d.reviews, k)
			}
		}
		if len(d.reviews) >= mostReviews {
			clear(d.reviews)
		}
	}
	if d.reviews == nil {
		d.reviews = map[string]review{}
	}
	d.reviews[key] = review{allowed, now.Add(reviewFresh)}
}
