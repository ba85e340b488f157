package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/clock"
)

// The names of the chart's objects.
const (
	Mutating   = "defaulting.webhook.karpenter.sh"
	Validating = "validation.webhook.karpenter.sh"
)

const (
	certificateCheckEvery = time.Minute      // how often the certificate is looked at: another replica may have made a new one
	retryAfter            = 10 * time.Second // how soon after that failed
	conflictRetryAfter    = time.Second      // how soon after another replica was first
	listenAgain           = time.Second      // how soon a port that another process has is tried again
	maxBody               = 4 << 20          // the API server sends objects of up to 3 MiB
)

// Server answers on a port, with a certificate that it keeps in the Secret <Service>-cert and makes known to the API server.
type Server struct {
	Client    client.Client // reads from the API server, not from a cache: it may read this one Secret only
	Host      string        // address to listen on; empty: all
	Port      int
	Service   string
	Namespace string
	Log       logr.Logger
	Now       clock.Now
	API       http.Handler // answers for an API group, below /apis; nil: for none
	Group     string       // as APIServices have it, such as v1.view.tenon.sh

	certificate atomic.Pointer[tls.Certificate]
}

// NeedLeaderElection is the manager's: every replica answers.
func (s *Server) NeedLeaderElection() bool { return false }

// Start serves until ctx ends. A webhook that cannot be set up is said; it is no
// reason for the controller to stop.
func (s *Server) Start(ctx context.Context) error {
	l := s.listen(ctx)
	if l == nil {
		return nil
	}
	handler, auth := Handler(), tls.NoClientCert
	if s.API != nil {
		both := http.NewServeMux()
		both.Handle("/", handler)
		both.Handle("/apis", s.API)
		both.Handle("/apis/", s.API)
		handler, auth = both, tls.RequestClientCert // whether it is the API server's is for the API to say
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0), // clients that break off are no news
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.current, ClientAuth: auth},
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	kept := make(chan struct{})
	go func() { // ends with ctx, and Start waits for it
		defer close(kept)
		s.keep(ctx)
	}()
	err := server.ServeTLS(l, "", "")
	if ctx.Err() == nil {
		return fmt.Errorf("serve the webhook: %w", err)
	}
	<-kept
	return nil
}

// listen takes the port, and waits for it where another process has it: on the network of the host
// that may be the replica before this one, which is ending. It is nil if ctx ends before.
func (s *Server) listen(ctx context.Context) net.Listener {
	said := false
	for {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(s.Host, strconv.Itoa(s.Port)))
		if err == nil {
			if said {
				s.Log.Info("The webhook is served", "port", s.Port)
			}
			return l
		}
		if !said && ctx.Err() == nil {
			s.Log.Error(err, "The webhook cannot be served, objects pass without it until it can")
			said = true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(listenAgain):
		}
	}
}

func (s *Server) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := s.certificate.Load(); c != nil {
		return c, nil
	}
	return nil, errors.New("there is no certificate yet")
}

// keep has a good certificate at hand until ctx ends.
func (s *Server) keep(ctx context.Context) {
	for {
		wait := certificateCheckEvery
		switch err := s.Renew(ctx); {
		case err == nil || ctx.Err() != nil:
		case apierrors.IsConflict(err):
			wait = conflictRetryAfter
		default:
			s.Log.Error(err, "The webhook cannot be set up, objects pass without it")
			wait = retryAfter
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Renew makes a certificate if the Secret holds none that will do, takes it,
// and tells the API server which authority to trust. Where another replica was first, its certificate is taken at the next try.
func (s *Server) Renew(ctx context.Context) error {
	host := s.Service + "." + s.Namespace + ".svc"
	secret := &corev1.Secret{}
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Service + "-cert"}, secret); err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	pair, bad := read(secret.Data, host, s.Now())
	if bad != nil {
		data, err := issue(host, s.Now())
		if err != nil {
			return fmt.Errorf("make a certificate: %w", err)
		}
		data[keyAuthority] = overlap(data[keyAuthority], secret.Data[keyAuthority], s.Now())
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		for k, v := range data {
			secret.Data[k] = v
		}
		if err := s.Client.Update(ctx, secret); err != nil {
			return fmt.Errorf("keep the certificate: %w", err)
		}
		if pair, err = read(data, host, s.Now()); err != nil {
			return fmt.Errorf("read the certificate just made: %w", err)
		}
	}
	s.certificate.Store(pair)
	return errors.Join(s.trust(ctx, Mutating, secret.Data[keyAuthority]), s.trust(ctx, Validating, secret.Data[keyAuthority]), s.trustAPI(ctx, secret.Data[keyAuthority]))
}

// trustAPI writes the authority into the APIService. One that is not there, or is served by another, is left alone.
func (s *Server) trustAPI(ctx context.Context, authority []byte) error {
	if s.API == nil {
		return nil
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
	if err := s.Client.Get(ctx, client.ObjectKey{Name: s.Group}, o); err != nil {
		return absent(s.Group, err)
	}
	name, _, _ := unstructured.NestedString(o.Object, "spec", "service", "name")
	namespace, _, _ := unstructured.NestedString(o.Object, "spec", "service", "namespace")
	last, _, _ := unstructured.NestedString(o.Object, "spec", "caBundle")
	now := base64.StdEncoding.EncodeToString(authority)
	if name != s.Service || namespace != s.Namespace || last == now {
		return nil
	}
	if err := unstructured.SetNestedField(o.Object, now, "spec", "caBundle"); err != nil {
		return fmt.Errorf("write the authority into %s: %w", s.Group, err)
	}
	if err := s.Client.Update(ctx, o); err != nil {
		return fmt.Errorf("write the authority into %s: %w", s.Group, err)
	}
	return nil
}

// trust writes the authority into a webhook configuration. One that is not there is switched off.
func (s *Server) trust(ctx context.Context, name string, authority []byte) error {
	var o client.Object
	var configs []*registrationv1.WebhookClientConfig
	switch name {
	case Mutating:
		c := &registrationv1.MutatingWebhookConfiguration{}
		o = c
		if err := s.Client.Get(ctx, client.ObjectKey{Name: name}, c); err != nil {
			return absent(name, err)
		}
		for i := range c.Webhooks {
			configs = append(configs, &c.Webhooks[i].ClientConfig)
		}
	default:
		c := &registrationv1.ValidatingWebhookConfiguration{}
		o = c
		if err := s.Client.Get(ctx, client.ObjectKey{Name: name}, c); err != nil {
			return absent(name, err)
		}
		for i := range c.Webhooks {
			configs = append(configs, &c.Webhooks[i].ClientConfig)
		}
	}
	changed := false
	for _, c := range configs {
		if !bytes.Equal(c.CABundle, authority) {
			c.CABundle, changed = authority, true
		}
	}
	if !changed {
		return nil
	}
	if err := s.Client.Update(ctx, o); err != nil {
		return fmt.Errorf("write the authority into %s: %w", name, err)
	}
	return nil
}

func absent(name string, err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// Handler answers reviews.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /default", answer(Canonical))
	mux.Handle("POST /validate", answer(Validate))
	return mux
}

func answer(decide func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		var review admissionv1.AdmissionReview
		if err == nil {
			err = json.Unmarshal(body, &review)
		}
		if err != nil || review.Request == nil {
			http.Error(w, "this is no AdmissionReview", http.StatusBadRequest)
			return
		}
		review.Response, review.Request = decide(review.Request), nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review) // the API server is gone and needs none
	})
}
