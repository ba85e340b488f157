package app

import (
	"fmt"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/extension"
	"github.com/tenon-sh/tenon/internal/webhook"
)

// webhook adds the answers to the API server's questions, if there is a port for them.
func (p *parts) webhook() error {
	s := p.Settings
	if s.WebhookPort <= 0 || s.WebhookService == "" || s.LeaseNamespace == "" {
		return nil
	}
	// Not the manager's client: that one watches all Secrets in order to read one.
	direct, err := client.New(p.Kubernetes, client.Options{Scheme: p.m.GetScheme()})
	if err != nil {
		return fmt.Errorf("set up the webhook: %w", err)
	}
	server := &webhook.Server{
		Client: direct, Port: s.WebhookPort, Service: s.WebhookService, Namespace: s.LeaseNamespace, Log: p.Log.WithName("webhook"), Now: p.Now,
	}
	if s.ViewAPI {
		if p.pages == nil {
			p.pages = http.NotFoundHandler()
		}
		server.Group = extension.Version + "." + extension.Group
		server.API = extension.Handler(extension.Config{Client: direct, Next: p.next, Pages: p.pages, Leader: p.leader, Now: p.Now})
	}
	return p.m.Add(server)
}
