package stage

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/clock"
)

// Inside is a controller that runs in the process of the test, which can thus turn its clock.
type Inside struct {
	App *app.App
	Log *Log

	ahead atomic.Int64
	stop  func()
}

// Inside runs a controller until the test ends. Its clock starts that far ahead
// of time. It has all features that tests need; change is the last to say.
func (s *Stage) Inside(t *testing.T, ahead time.Duration, k *rest.Config, change ...func(*app.Settings)) *Inside {
	t.Helper()
	for k, v := range env(t.TempDir(), s.Cloud) {
		if strings.HasPrefix(k, "AWS_") {
			t.Setenv(k, v)
		}
	}
	i := &Inside{Log: &Log{}}
	i.Turn(ahead)
	now := clock.Now(func() time.Time { return time.Now().Add(time.Duration(i.ahead.Load())) })
	log := app.NewLog(app.LogConfig{Out: i.Log, Err: i.Log, Now: now})
	ctrllog.SetLogger(log)
	cached := &app.ClassCache{}
	driver, err := app.OnAWS(t.Context(), k, app.AWS{Settings: aws.Settings{Cluster: s.Name, MemoryOverhead: 0.075, Queue: s.Queue}, Region: Region, Version: "test", Cache: cached}, log.WithName("controller.aws"), now)
	if err != nil {
		t.Fatal(err)
	}
	settings := app.Defaults()
	settings.MetricsPort, settings.HealthPort, settings.LeaderElection = 0, 0, false
	settings.Gates.NodeRepair, settings.Gates.StaticCapacity = true, true
	for _, f := range change {
		f(&settings)
	}
	i.App, err = app.New(t.Context(), app.Config{Kubernetes: k, Driver: driver, Provider: "aws", Settings: settings, Log: log, Classes: cached, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := i.App.Run(ctx); err != nil {
			t.Error("the controller ended with: ", err)
		}
	}()
	i.stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(func() {
		i.stop()
		if t.Failed() {
			text := i.Log.String()
			whole := filepath.Join(t.ArtifactDir(), "controller.log") // kept with go test -artifacts
			if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
				t.Error(err)
			}
			t.Logf("the controller's log, whole in %s, ends with:\n%s", whole, text[max(0, len(text)-16<<10):])
		}
	})
	return i
}

// Turn sets how far the controller's clock is ahead of time.
func (i *Inside) Turn(ahead time.Duration) { i.ahead.Store(int64(ahead)) }

// Stop ends the controller and waits for that.
func (i *Inside) Stop() { i.stop() }

// Log keeps what a controller says.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is the logger's.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Lines are those that hold every one of some words.
func (l *Log) Lines(words ...string) []string {
	var out []string
next:
	for line := range strings.Lines(l.String()) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue next
			}
		}
		out = append(out, line)
	}
	return out
}
