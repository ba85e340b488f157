package controller

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/trace"
)

// note is a line of the log about something that was given and is not followed.
type note struct {
	text   string
	fields []any
}

// passedOver are notes on the flags that were given and mean nothing here.
func passedOver(cmd *cobra.Command) []note {
	var out []note
	if unknown := verb.PassedOver(cmd); len(unknown) > 0 {
		out = append(out, note{"flags that this release does not know are passed over", []any{"flags", strings.Join(unknown, ", ")}})
	}
	if cmd.Flags().Changed("cpu-requests") {
		out = append(out, note{"--cpu-requests changes nothing: how much is done side by side does not depend on it", nil})
	}
	return out
}

// check refuses settings that cannot be meant, all at once, and takes over the others.
func (o *options) check() error {
	var wrong []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	oneOf := func(value, flag, env string, allowed ...string) {
		refuse(!slices.Contains(allowed, value), "invalid %s %q: write %s, here or with --%s", env, value, strings.Join(allowed, " or "), flag)
	}
	a := &o.AWS.Settings
	refuse(a.Cluster == "", "the cluster has no name: set --cluster-name or CLUSTER_NAME")
	oneOf(o.preferences, "preference-policy", "PREFERENCE_POLICY", "Respect", "Ignore")
	oneOf(o.minValues, "min-values-policy", "MIN_VALUES_POLICY", "Strict", "BestEffort")
	oneOf(o.logEncoding, "log-encoding", "LOG_ENCODING", "", "console", "json")
	oneOf(o.ConsolidationLevel, "consolidation-level", "CONSOLIDATION_LEVEL", consolidate.Levels()...)
	refuse(o.SpotPremium < 0 || o.SpotPremium > 1000, "--spot-premium is %d, want a percentage from 0 to 1000", o.SpotPremium)
	charge, err := verb.NodeCharge(o.nodeCharge)
	wrong = append(wrong, err)
	o.NodeCharge = charge
	refuse(o.InitializeWithin != 0 && o.InitializeWithin < time.Minute, "--initialization-timeout is %v, want 0 or at least 1m", o.InitializeWithin)
	refuse(a.ImagesFresh < time.Minute, "--ami-refresh-interval is %v, want at least 1m", a.ImagesFresh)
	refuse(a.SubnetsFresh < time.Minute, "--subnet-refresh-interval is %v, want at least 1m", a.SubnetsFresh)
	refuse(a.GroupsFresh < time.Minute, "--security-group-refresh-interval is %v, want at least 1m", a.GroupsFresh)
	refuse(!(a.MemoryOverhead >= 0 && a.MemoryOverhead < 1), "--vm-memory-overhead-percent is %v, want a share from 0 to below 1, such as 0.075", a.MemoryOverhead)
	refuse(math.IsNaN(float64(o.QPS)), "--kube-client-qps is %v, want a number of calls a second", o.QPS)
	refuse(a.ReservedENIs < 0, "--reserved-enis is %d, want 0 or more", a.ReservedENIs)
	refuse(!absolute(a.Endpoint), "--cluster-endpoint is %q, want a URL such as https://abc.eks.amazonaws.com", a.Endpoint)

	gates, unknown, err := app.ParseGates(o.Gates, o.gates)
	wrong = append(wrong, err)
	awsGates, unknownOfAWS, err := app.ParseAWSGates(o.awsGates)
	wrong = append(wrong, err)
	scheduler, err := app.ParseSchedulerConfig(o.schedulerConfig)
	wrong = append(wrong, err)

	report := func(so bool, text string, fields ...any) {
		if so {
			o.notes = append(o.notes, note{text, fields})
		}
	}
	unknown = append(unknown, unknownOfAWS...)
	report(len(unknown) > 0, "feature gates that this release does not know are passed over", "gates", strings.Join(unknown, ", "))
	o.DefaultSpread = scheduler.PodTopologySpread.DefaultConstraints
	report(len(o.DefaultSpread) > 0, "pods that state no topology spread constraint are planned with these, as --scheduler-config says", "constraints", o.DefaultSpread)
	o.Devices = !o.ignoreDRA
	report(o.noWarmup, "DISABLE_CONTROLLER_WARMUP changes nothing: followers read the cluster before they lead, so that they can lead at once")
	o.notes = append(o.notes, retiredNotes(o.getenv)...)
	o.Trace, err = trace.Read(o.variable, a.Cluster, o.AWS.Version)
	report(err != nil, "what happens is not traced", "error", err)
	o.Gates, o.LeaderElection = gates, !o.noElection
	a.Expressions = awsGates.NodeClassCEL
	o.IgnorePreferences, o.BestEffort = o.preferences == "Ignore", o.minValues == "BestEffort"
	return errors.Join(wrong...)
}

// variable is a variable of the environment, or the flag that wins over it.
func (o *options) variable(name string) string {
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		return o.otlp
	}
	return o.getenv(name)
}

// absolute reports whether text is a URL with a scheme and a host, or nothing.
func absolute(text string) bool {
	if text == "" {
		return true
	}
	u, err := url.Parse(text)
	return err == nil && u.IsAbs() && u.Hostname() != ""
}
