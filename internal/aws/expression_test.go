package aws_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// computed is an account with a class of these kubelet settings, whose expressions are on.
func computed(t *testing.T, settings string) *account {
	t.Helper()
	return openWith(t, aws.Settings{Cluster: "demo", Expressions: true}, nil, func(c *nodeclass.Class) { c.Kubelet = []byte(settings) })
}

// What expressions give decides what is planned with and what machines are told, of each type for itself.
func TestExpressions(t *testing.T) {
	a := computed(t, `{"maxPods":"min(vcpus * 20, max_pods)","kubeReserved":{"cpu":"vcpus * 31","memory":"11 * max_pods + 255"},"systemReserved":{"cpu":"50m"}}`)
	c, err := a.Catalog(context.Background(), templateOf())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ pods, cpu, memory int64 }{
		// memory: 255 and 11 for each pod, up to 16Mi, beside the 100Mi of eviction
		"m5.large":  {29, 70 + 50, 576 + 100},
		"m5.xlarge": {58, 130 + 50, 896 + 100},
	} {
		i := slices.IndexFunc(c.Shapes, func(s world.Shape) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("%s is not offered", name)
		}
		s := c.Shapes[i]
		if got := s.Capacity.Value(amount.Pods) / amount.Unit; got != want.pods {
			t.Errorf("%s takes %d pods, want %d", name, got, want.pods)
		}
		if got := s.Overhead.Value(amount.CPU); got != want.cpu*amount.Unit/1000 {
			t.Errorf("%s keeps %d of its CPUs, want %dm", name, got, want.cpu)
		}
		if got := s.Overhead.Value(amount.Memory) / amount.Unit >> 20; got != want.memory {
			t.Errorf("%s keeps %dMi, want %d", name, got, want.memory)
		}
	}
	for name, want := range map[string][]string{
		"m5.large": {"maxPods: 29", "cpu: 70m", "memory: 576Mi", "cpu: 50m"}, "m5.xlarge": {"maxPods: 58", "cpu: 130m", "memory: 896Mi", "cpu: 50m"},
	} {
		o := order(name, 1, label.OnDemand)
		o.Menu = []string{name}
		if got := a.Launch(context.Background(), []cloud.Order{o})[0]; got.Err != nil || len(got.Machines) != 1 {
			t.Fatalf("%+v", got)
		}
		all := a.Market.Instances()
		i := slices.IndexFunc(all, func(i market.Instance) bool { return i.Type == name })
		if i < 0 {
			t.Fatalf("no %s was bought", name)
		}
		text := decoded(t, all[i].Data.UserData)
		for _, line := range want {
			if !strings.Contains(text, line) {
				t.Errorf("%s is not told %q:\n%s", name, line, text)
			}
		}
	}
}

// (T-6) A type for which an expression fails is not bought, and that is said. Where none is left, or the expression is none, the class makes no machines.
func TestExpressionsThatFail(t *testing.T) {
	for name, test := range map[string]struct {
		why, settings  string
		reason, says   string // what the class is broken by
		without        string // what its condition says though it holds
		missing, there string // types
	}{
		"Small": {
			why: "One that fails for small types leaves the others.", settings: `{"maxPods":"vcpus > 2 ? 30 : -1 * vcpus"}`,
			without: "instance types are not bought, because expressions fail for them: ", missing: "m5.large", there: "m5.xlarge",
		},
		"All": {
			why: "Of one that fails everywhere nothing is left.", settings: `{"maxPods":"vcpus / 0"}`,
			reason: awsv1.ReasonKubeletExpressionFailed, says: "expressions fail for every instance type, as for c1.medium: spec.kubelet.maxPods: division by zero",
		},
		"Invalid": {
			why: "What is no expression is refused.", settings: `{"kubeReserved":{"cpu":"cores * 10"}}`,
			reason: awsv1.ReasonKubeletExpressionInvalid, says: "spec.kubelet.kubeReserved.cpu: column 1: undeclared reference to 'cores'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := computed(t, test.settings)
			got, err := a.Inspect(context.Background(), templateOf().Class)
			if err != nil {
				t.Fatal(err)
			}
			broken := got.Broken[awsv1.ConditionValidationSucceeded]
			if test.reason != "" && (broken == nil || broken.Reason != test.reason || !strings.Contains(broken.Error(), test.says)) || test.reason == "" && broken != nil {
				t.Errorf("%s it is broken by %v, want %s", test.why, broken, test.reason)
			}
			if without := got.Without[awsv1.ConditionValidationSucceeded]; !strings.Contains(without, test.without) {
				t.Errorf("%s it says %q, want %q", test.why, without, test.without)
			}
			c, err := a.Catalog(context.Background(), templateOf())
			has := func(name string) bool {
				return slices.ContainsFunc(c.Shapes, func(s world.Shape) bool { return s.Name == name })
			}
			if test.reason != "" && err == nil || test.there != "" && (err != nil || !has(test.there) || has(test.missing)) {
				t.Errorf("%s %d types are offered: %v", test.why, len(c.Shapes), err)
			}
			o := order("o", 1, label.OnDemand)
			o.Menu = []string{"m5.large"}
			if got := a.Launch(context.Background(), []cloud.Order{o})[0]; len(got.Machines) > 0 {
				t.Errorf("%s a machine was bought", test.why)
			}
		})
	}
}

// While expressions are off, a class that has them makes no machines: what it means to reserve would be left out.
func TestExpressionsOff(t *testing.T) {
	a := open(t, nil, func(c *nodeclass.Class) { c.Kubelet = []byte(`{"kubeReserved":{"cpu":"vcpus * 10"}}`) })
	_, err := a.Catalog(context.Background(), templateOf())
	if e, ok := err.(*cloud.Error); !ok || e.Code != cloud.NotReady || e.Reason != awsv1.ReasonKubeletExpressionsDisabled { //nolint:errorlint // the driver returns it as it is
		t.Errorf("got %v", err)
	}
}
