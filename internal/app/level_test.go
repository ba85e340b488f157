package app_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/driver"
)

// What is logged follows the ConfigMap that operators patch, without a restart;
// what cannot be read changes nothing.
func TestLogFollowsItsConfigMap(t *testing.T) {
	api, ns := kubetest.Client(t, v1.AddToScheme), kubetest.Namespace(t)
	settings := app.Defaults()
	settings.MetricsPort, settings.HealthPort, settings.LeaderElection, settings.LeaseNamespace = 0, 0, false, ns
	dynamic := app.NewDynamicLevel(app.InfoLevel)
	a, err := app.New(t.Context(), app.Config{
		Kubernetes: kubetest.Config(t), Driver: driver.New(region(t), "test"), Provider: "sim", Settings: settings, Log: logr.Discard(), LogLevel: dynamic,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	level := func(want app.Level) {
		t.Helper()
		kubetest.Within(t, 20*time.Second, func() error {
			if got := dynamic.At(); got != want {
				return fmt.Errorf("the level is %d, want %d", got, want)
			}
			return nil
		})
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "config-logging"}, Data: map[string]string{"loglevel.controller": "debug"}}
	if err := api.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	level(app.DebugLevel)
	for _, said := range []string{"loud", "error"} {
		config.Data["loglevel.controller"] = said
		if err := api.Update(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	level(app.ErrorLevel)
}
