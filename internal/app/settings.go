package app

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/trace"
)

// Settings are what an operator can choose. They have the names and defaults of Karpenter's.
type Settings struct {
	MetricsPort        int
	HealthPort         int
	BindAddress        string // that metrics and probes are served on; empty: all there are
	WebhookPort        int    // 0: no webhook; it also needs LeaseNamespace, which is the pod's
	WebhookService     string // by which the API server reaches it
	QPS                float32
	Burst              int
	Profiling          bool
	LivePage           bool // what is seen and decided is shown as it changes, and asked about, on the port of metrics
	ViewAPI            bool // callers are answered through the API server, by their own rights, on the port of the webhook
	Unobserved         bool // no metrics of single objects
	LeaderElection     bool
	LeaseName          string
	LeaseNamespace     string
	MemoryLimit        int64 // bytes; below zero: none
	BatchMax           time.Duration
	BatchIdle          time.Duration
	IgnorePreferences  bool
	BestEffort         bool                              // minValues may be lowered
	UnhealthyLast      bool                              // pools whose machines did not register are bought from last
	SpotPremium        int                               // percent of its price that spot counts as costing more
	NodeCharge         money.Micro                       // what a node counts beside its price, an hour; below zero: nothing
	Nominate           bool                              // pods for the nodes that they are planned for
	HoldNodes          time.Duration                     // for which nodes that have joined may be kept closed to pods until all of theirs can be bound
	InitializeWithin   time.Duration                     // that a registered node has before it is given up; zero: for ever
	MovePods           bool                              // to make the cluster cheaper, and to replace nodes that have drifted
	ConsolidationLevel string                            // how much has to be saved for a move
	Devices            bool                              // pods with resource claims are planned for
	DefaultSpread      []corev1.TopologySpreadConstraint // of pods that state no topology spread constraint
	Gates              Gates
	Shadow             bool   // decide and report, and change nothing
	JournalDir         string // decisions are kept in files there; empty: in memory only
	JournalLimit       int64  // bytes of them
	RecordFile         string // decisions are recorded there; empty: nowhere
	RecordLimit        int64  // bytes that it may have
	Trace              trace.Settings
}

// Gates are the features that can be switched.
type Gates struct {
	ReservedCapacity, SpotToSpotConsolidation, NodeRepair, NodeOverlay, StaticCapacity, CapacityBuffer bool
}

// Defaults are the settings when nothing is said.
func Defaults() Settings {
	return Settings{
		MetricsPort: 8080, HealthPort: 8081, QPS: 200, Burst: 300, LeaderElection: true,
		LeaseName: "karpenter-leader-election", MemoryLimit: -1,
		BatchMax: 10 * time.Second, BatchIdle: time.Second, Nominate: true, HoldNodes: 20 * time.Second, MovePods: true, ConsolidationLevel: consolidate.Normal, Gates: Gates{ReservedCapacity: true},
		JournalLimit: 1 << 30, RecordLimit: 256 << 20,
	}
}

// ParseGates reads "Name=true,Other=false" over gates. Names that are not known
// are passed over, so that manifests for other releases stay usable, and returned.
func ParseGates(g Gates, text string) (Gates, []string, error) {
	unknown, err := readGates(map[string]*bool{
		"ReservedCapacity": &g.ReservedCapacity, "SpotToSpotConsolidation": &g.SpotToSpotConsolidation, "NodeRepair": &g.NodeRepair,
		"NodeOverlay": &g.NodeOverlay, "StaticCapacity": &g.StaticCapacity, "CapacityBuffer": &g.CapacityBuffer,
	}, text)
	return g, unknown, err
}

// AWSGates are the features of the driver that can be switched.
type AWSGates struct {
	NodeClassCEL bool // values of a class's kubelet settings may be expressions
}

// ParseAWSGates is ParseGates for the features of the driver.
func ParseAWSGates(text string) (AWSGates, []string, error) {
	var g AWSGates
	unknown, err := readGates(map[string]*bool{"NodeClassCEL": &g.NodeClassCEL}, text)
	return g, unknown, err
}

func readGates(known map[string]*bool, text string) (unknown []string, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, said, ok := strings.Cut(part, "=")
		on, err := strconv.ParseBool(strings.TrimSpace(said))
		if !ok || err != nil {
			return nil, fmt.Errorf("feature gate %q: write Name=true or Name=false", part)
		}
		if gate := known[strings.TrimSpace(name)]; gate != nil {
			*gate = on
		} else {
			unknown = append(unknown, strings.TrimSpace(name))
		}
	}
	return unknown, nil
}
