// Package enact carries decisions out in Kubernetes. It is the only place that creates and deletes claims, taints nodes that go, nominates pods, and evicts them.
//
// It decides nothing: what is to be done comes as a plan or as the name of an
// object with a reason.
package enact

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/panics"
)

// Events publishes what happened to objects.
type Events interface {
	Normal(o client.Object, reason, format string, args ...any)
	Warning(o client.Object, reason, format string, args ...any)
	WarningEvery(every time.Duration, o client.Object, reason, message string)
}

// Enactor carries decisions out. Its methods may be called from several goroutines.
type Enactor struct {
	Client  client.Client
	Live    client.Reader // what no cache holds back; nil: Client
	Cluster *cluster.Cluster
	Events  Events
	Metrics *metric.Set
	Now     clock.Now
	Log     logr.Logger
	Targets *Targets
	// Promises has pods nominated for the nodes that they are planned for.
	Promises bool
	// Static is held by what changes the machines of static pools, from the World that it decides about until it
	// has written: each counts on what the limits leave.
	Static sync.Mutex
	// Suffix gives the five letters that tell claims of a pool apart.
	Suffix func() string

	reminders reminders
	deletions deletions
	openings  openings
	rest      rest
}

// teller reports objects that break our code. Of many that are written or reported in one pass
// each is tried by itself: a pass that ended with the first would end there again and again.
func (e *Enactor) teller() panics.Teller { return panics.Teller{Log: e.Log, Metrics: e.Metrics} }

// where is what broke, as the log and metrics name it.
const where = "enact"

// The reasons for which claims are made and ended, as metrics count them.
const (
	Provisioned           = "provisioned"
	Adopted               = "adopted"
	Empty                 = "empty"
	Underutilized         = "underutilized"
	Drifted               = "drifted"
	Expired               = "expired"
	Unhealthy             = "unhealthy"
	InsufficientCapacity  = "insufficient_capacity"
	ClassNotReady         = "nodeclass_not_ready"
	LaunchTimeout         = "launch_timeout"
	RegistrationTimeout   = "registration_timeout"
	InitializationTimeout = "initialization_timeout"
	Collected             = "garbage_collected"
	Released              = "released" // its node or pool is being deleted by another, or its static pool is to have fewer nodes
)

// poolLabel is the pool's name on a claim or node, for metrics.
func poolLabel(labels map[string]string) string {
	if name := labels[v1.LabelNodePool]; name != "" {
		return name
	}
	return labels["karpenter.sh/provisioner-name"]
}
