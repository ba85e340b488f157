package wording_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/wording"
)

// An event leads with the pool that has the least against the pod, and is no longer than a line.
func TestEventLeadsWithTheNearestPool(t *testing.T) {
	gpu := provisioner("gpu")
	gpu.Weight = 100
	gpu.Taints = []world.Taint{{Key: "nvidia.com/gpu", Effect: world.NoSchedule}}
	arm := provisioner("arm")
	arm.Requirements = arm.Requirements.Without(label.Arch).And(label.Is(label.Arch, "arm64"))
	full := provisioner("full")
	full.Limits = amounts(t, map[string]string{"cpu": "1"})
	amd := waiting(t, map[string]string{"cpu": "1"})
	amd.NodeSelector = label.SetOf(label.Is(label.Arch, "amd64"))
	far := waiting(t, map[string]string{"cpu": "1"})
	far.NodeTerms = []world.NodeTerm{{Labels: label.SetOf(label.Is(label.Zone, "antarctica-west1", "antarctica-east1"))}}
	west := provisioner("west", label.Is(label.Zone, "ap-northeast-2a"))
	nowhere := waiting(t, map[string]string{"cpu": "1"})
	nowhere.NodeSelector = label.SetOf(label.Is(label.Zone, "nowhere"), label.Is(label.Provisioner, "default"))
	named := waiting(t, map[string]string{"cpu": "1"})
	named.NodeSelector = label.SetOf(label.Is(label.Provisioner, "gpu"))
	blue := provisioner("blue")
	blue.Labels = map[string]string{"team": "blue"}
	blue.Taints = gpu.Taints
	teams := waiting(t, map[string]string{"cpu": "1"})
	teams.NodeSelector = label.SetOf(label.Is(label.Zone, "antarctica-west1"))
	teams.NodeTerms = []world.NodeTerm{{Labels: label.SetOf(label.Is("team", "green"))}, {Labels: label.SetOf(label.Is("team", "blue"))}}
	green := provisioner("green")
	green.Labels = map[string]string{"team": "green"}
	green.Requirements = green.Requirements.And(label.Is(label.Zone, "ap-northeast-2a"))
	many := []world.Pool{full}
	for i := range 20 {
		p := gpu
		p.ID.Name = fmt.Sprint("gpu-", i)
		many = append(many, p)
	}
	tests := map[string]struct {
		why   string
		pools []world.Pool
		pod   world.Pod
		want  string
	}{
		"Alone": {
			"What is short is said as the log says it.",
			[]world.Pool{gpu},
			amd,
			`Failed to schedule pod, incompatible with provisioner "gpu", did not tolerate nvidia.com/gpu=:NoSchedule`,
		},
		"Nearest": {
			"A limit is nearer than an architecture, and that nearer than a taint, whatever the pools' weights.",
			[]world.Pool{gpu, arm, full},
			amd,
			`Failed to schedule pod, all available instance types exceed limits for provisioner "full", cpu: limit 1; and 2 more pools`,
		},
		"Named": {
			"A pod that names its pool is told of that one first, however far it is.",
			[]world.Pool{full, arm, gpu},
			named,
			`Failed to schedule pod, incompatible with provisioner "gpu", did not tolerate nvidia.com/gpu=:NoSchedule; and 2 more pools`,
		},
		"Labelled": {
			"A label of the template selects a pool; green has it, but not the zone; blue needs not say its zone.",
			[]world.Pool{full, green, blue},
			teams,
			`Failed to schedule pod, incompatible with provisioner "blue", did not tolerate nvidia.com/gpu=:NoSchedule; and 2 more pools`,
		},
		"Many": {
			"Twenty pools do not bury the one.", many, amd,
			`Failed to schedule pod, all available instance types exceed limits for provisioner "full", cpu: limit 1; and 20 more pools`,
		},
		"Long": {
			"A long clause ends between two words.",
			[]world.Pool{west},
			far,
			`Failed to schedule pod, incompatible with provisioner "west", incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [antarctica-east1 antarctica-west1] not in…`,
		},
		"Types": {
			"What a pool requires of types stands in the pool.",
			[]world.Pool{provisioner("default")},
			waiting(t, map[string]string{"cpu": "100"}),
			`Failed to schedule pod, incompatible with provisioner "default", no instance type satisfied resources {"cpu":"100","pods":"1"}`,
		},
		"Zone": {
			"What the pod itself requires of types does not.",
			[]world.Pool{provisioner("default"), full, arm},
			nowhere,
			`Failed to schedule pod, incompatible with provisioner "default", no instance type satisfied resources {"cpu":"1","pods":"1"} and requirements topology.kubernetes.io/zone In [nowhere]; and 2 more pools`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			must(t, b.SetCatalog, catalog(t))
			must(t, b.SetPool, tc.pools...)
			must(t, b.SetPod, tc.pod)
			w := b.Snapshot(0)
			p := provision.Decide(w, provision.Options{})
			if len(p.Refused) != 1 {
				t.Fatalf("want one refusal: %s", p)
			}
			got := wording.Event(w, p.Refused[0])
			if got != tc.want || len(got) > 200 {
				t.Errorf("%s\n got %s\nwant %s", tc.why, got, tc.want)
			}
		})
	}
}

// What keeps a node is said in words, each once.
func TestKept(t *testing.T) {
	b := world.NewBuilder()
	must(t, b.SetCatalog, catalog(t))
	full := provisioner("full")
	full.Limits = amounts(t, map[string]string{"cpu": "1"})
	must(t, b.SetPool, full)
	must(t, b.SetPod, waiting(t, map[string]string{"cpu": "1"}))
	w := b.Snapshot(0)
	pod := w.Waiting()[0]
	cause := provision.Decide(w, provision.Options{}).Refused[0].Why
	got := wording.Kept(w, pod, &reason.Why{Code: reason.NoPlace, Subject: "default/p", Detail: "the pod would find no place", Causes: []*reason.Why{cause}})
	if want := `default/p: the pod would find no place: all available instance types exceed limits for provisioner "full", cpu: limit 1`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	held := &reason.Why{Code: reason.DoNotDisrupt, Subject: "n", Causes: []*reason.Why{{Code: reason.DoNotDisrupt, Subject: "d/a", Detail: "it is annotated x", Hint: "take it off"}, {Code: reason.Budget}}}
	if got, want := wording.Kept(w, nil, held), "n: d/a: it is annotated x → take it off; disruption budget"; got != want || strings.Contains(got, "do-not-disrupt") {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
