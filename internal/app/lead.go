package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/lead"
)

// repeated sends a request once more that the API server has broken down over. To
// hold the Leases takes several requests in turn, of which none may fail: where
// each second one does, as while etcd changes its leader, it would not come about.
// What is written says of which version it is, so that to write it twice is to
// write it once.
type repeated struct{ http.RoundTripper }

// RoundTrip is http.RoundTripper's.
func (t repeated) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusInternalServerError && answer.StatusCode != http.StatusServiceUnavailable {
		return answer, err
	}
	next := r.Clone(r.Context())
	if r.Body != nil {
		if r.GetBody == nil {
			return answer, nil
		}
		if next.Body, err = r.GetBody(); err != nil {
			return answer, nil //nolint:nilerr // what was answered is the answer
		}
	}
	_ = answer.Body.Close()
	return t.RoundTripper.RoundTrip(next)
}

// ownNamespace is where a pod finds the name of its namespace.
const ownNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// elected returns the election of the replica that acts, and how its events end; nil where there is no election.
func (c Config) elected() (lock *lead.Lock, end func(), err error) {
	if !c.Settings.LeaderElection {
		return nil, func() {}, nil
	}
	namespace := c.Settings.LeaseNamespace
	if namespace == "" {
		text, err := os.ReadFile(ownNamespace)
		if err != nil {
			return nil, nil, fmt.Errorf("find the namespace of the Lease: %w; outside of a cluster, set --leader-election-namespace", err)
		}
		namespace = strings.TrimSpace(string(text))
	}
	host, err := replica()
	if err != nil {
		return nil, nil, fmt.Errorf("name this replica: %w", err)
	}
	own := rest.AddUserAgent(rest.CopyConfig(c.Kubernetes), "leader-election")
	own.QPS, own.Timeout = -1, 5*time.Second // a renewal waits for nothing else, and one that hangs is tried again
	own.Wrap(func(next http.RoundTripper) http.RoundTripper { return repeated{next} })
	api, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, nil, fmt.Errorf("set up the election of a leader: %w", err)
	}
	var dates clock.Now
	if c.Clock != nil {
		dates = c.Clock.Now
	}
	tell := record.NewBroadcaster()
	tell.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: api.CoreV1().Events("")})
	return lead.NewLock(lead.Config{
		Leases: api.CoordinationV1(), Events: tell.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "karpenter"}),
		Name:     types.NamespacedName{Namespace: namespace, Name: c.Settings.LeaseName},
		Identity: lead.Identity(host, string(uuid.NewUUID())), Fence: c.Fence, Log: c.Log.WithName("leader"), Now: c.Now, Dates: dates,
	}), tell.Shutdown, nil
}

// replica is the name of this replica. Container runtimes say by HOSTNAME what a
// pod's host is called: its own name. A process that stands for a pod and has no
// host of its own, as on a playground, is named by it likewise.
func replica() (string, error) {
	if name := os.Getenv("HOSTNAME"); name != "" { //nolint:forbidigo // not a setting of ours
		return name, nil
	}
	return os.Hostname()
}

// fenced has everything that a Config writes by stand behind its fence.
func (c Config) fenced(own *rest.Config) {
	own.Wrap(c.Fence.Transport)
	if own.Transport != nil {
		return // a transport that is given dials by itself
	}
	dial := own.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	own.Dial = c.Fence.Dial(dial)
}

// fencedDriver is a Driver that buys and ends machines while this process may act.
// A driver may also ask the fence before each single call; not every one can.
type fencedDriver struct {
	cloud.Driver

	fence *lead.Fence
}

// Behind is the driver itself, for what not every driver can.
func (d fencedDriver) Behind() cloud.Driver { return d.Driver }

// Launch is cloud.Driver's.
func (d fencedDriver) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	if err := d.fence.Wait(ctx); err != nil {
		out := make([]cloud.Outcome, len(orders))
		for i := range out {
			out[i].Err = err
		}
		return out
	}
	return d.Driver.Launch(ctx, orders)
}

// Terminate is cloud.Driver's.
func (d fencedDriver) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	if err := d.fence.Wait(ctx); err != nil {
		out := make([]error, len(ids))
		for i := range out {
			out[i] = err
		}
		return out
	}
	return d.Driver.Terminate(ctx, ids)
}

// replaced ends the program when another acts in its place: what it has begun
// is not its own any more, and it starts again as one that waits.
func replaced(lock *lead.Lock) onEveryReplica {
	return func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-lock.Lost():
			return fmt.Errorf("%w; this program ends, and waits for its turn when it is started again", lock.Why())
		}
	}
}

// errLost is what the manager says when the election of a leader has ended, which it does whenever the program ends.
const errLost = "leader election lost"

// Calm is a log in which the end of a program that was asked to end is no error,
// nor each try of a candidate to lead, of which there are some in a second.
func Calm(log logr.Logger) logr.Logger {
	if log.GetSink() == nil { // it discards everything
		return log
	}
	return log.WithSink(quietedSink{log.GetSink()})
}

type quietedSink struct{ logr.LogSink }

// Error is logr's.
func (s quietedSink) Error(err error, message string, fields ...any) {
	switch {
	case err != nil && err.Error() == errLost:
		message = "the Lease has been let go"
	case slices.Contains([]string{"Error retrieving lease lock", "Error initially creating lease lock", "Failed to update lease"}, message):
		fields = append(fields[:len(fields):len(fields)], "error", fmt.Sprint(err)) // internal/lead says it once
	default:
		s.LogSink.Error(err, message, fields...)
		return
	}
	if s.Enabled(1) {
		s.Info(1, message, fields...)
	}
}

// WithValues is logr's.
func (s quietedSink) WithValues(fields ...any) logr.LogSink {
	return quietedSink{s.LogSink.WithValues(fields...)}
}

// WithName is logr's.
func (s quietedSink) WithName(name string) logr.LogSink { return quietedSink{s.LogSink.WithName(name)} }

// ended says what the end of the manager means. That it could not renew its Lease
// in time is the one end that it gives no reason for.
func ended(err error) error {
	if err.Error() == errLost {
		return errors.New("the Lease could not be renewed for a minute: the API server does not answer; this program ends, and waits for its turn when it is started again")
	}
	return fmt.Errorf("run the controller: %w", err)
}
