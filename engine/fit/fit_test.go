package fit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

func cpu(milli int64) amount.List {
	return amount.Of(amount.Entry{Name: amount.CPU, Value: milli})
}

func requirement(t *testing.T, key string, op label.Op, values ...string) label.Requirement {
	t.Helper()
	r, err := label.New(key, op, values...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mayBe is one of the values, or absence.
func mayBe(key string, values ...string) label.Requirement {
	r := label.Is(key, values...)
	r.Present = false
	return r
}

func ptr(r label.Requirement) *label.Requirement { return &r }

func TestObjections(t *testing.T) {
	gpu := world.Taint{Key: "gpu", Value: "yes", Effect: world.NoSchedule}
	node := func(change func(*fit.Place)) fit.Place {
		at := fit.Place{Name: "n1", Labels: map[string]string{"zone": "a", "size": "4"}, Free: cpu(1000)}
		if change != nil {
			change(&at)
		}
		return at
	}
	name := func(values ...string) *label.Requirement { r := label.Is("metadata.name", values...); return &r }
	tests := map[string]struct {
		why  string
		pod  world.Pod
		at   fit.Place
		want []reason.Code
	}{
		"Fits":          {why: "Nothing is in the way.", pod: world.Pod{Requests: cpu(1000)}, at: node(nil)},
		"TooLarge":      {why: "A thousandth too much is too much.", pod: world.Pod{Requests: cpu(1001)}, at: node(nil), want: []reason.Code{reason.Resource}},
		"UnknownDevice": {why: "What a node does not have is not there.", pod: world.Pod{Requests: amount.Of(amount.Entry{Name: "x/gpu", Value: 1000})}, at: node(nil), want: []reason.Code{reason.Resource}},
		"WantsNothing":  {why: "A pod that requests none of it fits a node that has less than none.", pod: world.Pod{Requests: cpu(0)}, at: node(func(at *fit.Place) { at.Free = cpu(-5) })},
		"Taint":         {why: "An untolerated taint refuses.", at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu} }), want: []reason.Code{reason.Taint}},
		"Tolerated": {
			why: "The same value tolerates.", pod: world.Pod{Tolerations: []world.Toleration{{Key: "gpu", Value: "yes"}}},
			at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu} }),
		},
		"OtherValue": {
			why: "Another value does not.", pod: world.Pod{Tolerations: []world.Toleration{{Key: "gpu", Value: "no"}}},
			at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu} }), want: []reason.Code{reason.Taint},
		},
		"EveryKey": {
			why: "Exists without a key tolerates all.", pod: world.Pod{Tolerations: []world.Toleration{{Exists: true}}},
			at: node(func(at *fit.Place) { at.Taints, at.Cordoned = []world.Taint{gpu}, true }),
		},
		"ExistsKey": {
			why: "Exists tolerates every value of its key.", pod: world.Pod{Tolerations: []world.Toleration{{Key: "gpu", Exists: true}}},
			at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu} }),
		},
		"NoKey": {
			why: "A toleration without a key tolerates nothing unless it is for all.", pod: world.Pod{Tolerations: []world.Toleration{{Value: "yes"}}},
			at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu} }), want: []reason.Code{reason.Taint},
		},
		"OtherKey": {
			why: "Exists tolerates no other key.", pod: world.Pod{Tolerations: []world.Toleration{{Key: "cpu", Exists: true}}},
			at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu} }), want: []reason.Code{reason.Taint},
		},
		"SameEffect": {
			why: "The effect is the taint's.", pod: world.Pod{Tolerations: []world.Toleration{{Key: "gpu", Exists: true, Effect: world.NoSchedule}}},
			at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu} }),
		},
		"OtherEffect": {
			why: "One for another effect does not.", pod: world.Pod{Tolerations: []world.Toleration{{Key: "gpu", Exists: true, Effect: world.NoExecute}}},
			at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu} }), want: []reason.Code{reason.Taint},
		},
		"SecondTaint": {
			why: "All taints have to be tolerated.", pod: world.Pod{Tolerations: []world.Toleration{{Key: "gpu", Exists: true}}},
			at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu, {Key: "team", Effect: world.NoExecute}} }), want: []reason.Code{reason.Taint},
		},
		"SoftTaint": {why: "PreferNoSchedule refuses no pod.", at: node(func(at *fit.Place) { at.Taints = []world.Taint{{Key: "x", Effect: world.PreferNoSchedule}} })},
		"Cordoned":  {why: "A cordoned node takes no pod.", at: node(func(at *fit.Place) { at.Cordoned = true }), want: []reason.Code{reason.Unschedulable}},
		"Leaving":   {why: "Nor does one that goes away.", at: node(func(at *fit.Place) { at.Deleting = true }), want: []reason.Code{reason.Deleting}},
		"Selector":  {why: "The selector asks for another zone.", pod: world.Pod{NodeSelector: label.SetOf(label.Is("zone", "b"))}, at: node(nil), want: []reason.Code{reason.Label}},
		"TermsAreAlternatives": {
			why: "One term that holds is enough.", at: node(nil),
			pod: world.Pod{NodeTerms: []world.NodeTerm{{Labels: label.SetOf(label.Is("zone", "b"))}, {Labels: label.SetOf(requirement(t, "size", label.Gt, "3"))}}},
		},
		"EmptyTerm":   {why: "An empty term accepts nothing.", pod: world.Pod{NodeTerms: []world.NodeTerm{{}}}, at: node(nil), want: []reason.Code{reason.Label}},
		"ByName":      {why: "matchFields names the node.", pod: world.Pod{NodeTerms: []world.NodeTerm{{Name: name("n1")}}}, at: node(nil)},
		"ByOtherName": {why: "Another name is another node.", pod: world.Pod{NodeTerms: []world.NodeTerm{{Name: name("n2")}}}, at: node(nil), want: []reason.Code{reason.Label}},
		"PlannedHasNoName": {
			why: "A machine that is only planned has no name yet.", pod: world.Pod{NodeTerms: []world.NodeTerm{{Name: name("n1")}}},
			at: node(func(at *fit.Place) { at.Planned = true }), want: []reason.Code{reason.Label},
		},
		"PlannedIsNotThat": {
			why: "It is none of those that are not to be.", pod: world.Pod{NodeTerms: []world.NodeTerm{{Name: ptr(requirement(t, "metadata.name", label.NotIn, "n1"))}}},
			at: node(func(at *fit.Place) { at.Planned = true }),
		},
		"NameAndLabel": {
			why: "Both parts of a term have to hold.", pod: world.Pod{NodeTerms: []world.NodeTerm{{Name: name("n1"), Labels: label.SetOf(label.Is("zone", "b"))}}},
			at: node(nil), want: []reason.Code{reason.Label},
		},
		"OneOfTwoTerms": {
			why: "A term by name is an alternative.", pod: world.Pod{NodeTerms: []world.NodeTerm{{Labels: label.SetOf(label.Is("zone", "b"))}, {Name: name("n1")}}}, at: node(nil),
		},
		"NoTerm": {
			why: "None of them holds.", pod: world.Pod{NodeTerms: []world.NodeTerm{{Labels: label.SetOf(label.Is("zone", "b"))}, {Name: name("n2")}}}, at: node(nil), want: []reason.Code{reason.Label},
		},
		"SelectorAndTerm": {
			why: "The selector has to hold as well.", pod: world.Pod{NodeSelector: label.SetOf(label.Is("zone", "a")), NodeTerms: []world.NodeTerm{{Name: name("n2")}}}, at: node(nil), want: []reason.Code{reason.Label},
		},
		"Sealed": {
			why: "The seller settles the label: it may become another value.", pod: world.Pod{NodeSelector: label.SetOf(label.Is("team", "x"))},
			at: node(func(at *fit.Place) { at.Sealed, at.Open = true, label.SetOf(label.Is("team", "x", "y")) }), want: []reason.Code{reason.Label},
		},
		"SealedAlike": {
			why: "Whatever it becomes is asked for.", pod: world.Pod{NodeSelector: label.SetOf(label.Is("team", "x", "y", "z"))},
			at: node(func(at *fit.Place) { at.Sealed, at.Open = true, label.SetOf(label.Is("team", "x", "y")) }),
		},
		"SealedAbsent": {
			why: "It may come to be absent.", pod: world.Pod{NodeSelector: label.SetOf(label.Is("team", "x", "y"))},
			at: node(func(at *fit.Place) { at.Sealed, at.Open = true, label.SetOf(mayBe("team", "x", "y")) }), want: []reason.Code{reason.Label},
		},
		"SealedNot": {
			why: "Absent or not, it is not what is not wanted.", pod: world.Pod{NodeSelector: label.SetOf(requirement(t, "team", label.NotIn, "z"))},
			at: node(func(at *fit.Place) { at.Sealed, at.Open = true, label.SetOf(mayBe("team", "x", "y")) }),
		},
		"SealedAny": {
			why: "It may become anything.", pod: world.Pod{NodeSelector: label.SetOf(label.Is("team", "x"))},
			at: node(func(at *fit.Place) { at.Sealed, at.Open = true, label.SetOf(label.Any("team")) }), want: []reason.Code{reason.Label},
		},
		"OpenNot": {
			why: "A label that may be absent can be so where another value is refused.", pod: world.Pod{NodeSelector: label.SetOf(requirement(t, "team", label.NotIn, "x"))},
			at: node(func(at *fit.Place) { at.Open = label.SetOf(mayBe("team", "x")) }),
		},
		"OpenOther": {
			why: "One that is there cannot.", pod: world.Pod{NodeSelector: label.SetOf(requirement(t, "team", label.NotIn, "x"))},
			at: node(func(at *fit.Place) { at.Open = label.SetOf(label.Is("team", "x")) }), want: []reason.Code{reason.Label},
		},
		"AbsentLabel": {why: "NotIn holds where the label is absent.", pod: world.Pod{NodeSelector: label.SetOf(requirement(t, "team", label.NotIn, "x"))}, at: node(nil)},
		"OpenLabel": {
			why: "A label that is not settled may still become what is asked for.", pod: world.Pod{NodeSelector: label.SetOf(label.Is("team", "x"))},
			at: node(func(at *fit.Place) { at.Open = label.SetOf(label.Any("team")) }),
		},
		"Port": {
			why: "The port is taken on every address.", pod: world.Pod{Ports: []world.Port{{IP: "10.0.0.1", Protocol: "TCP", Port: 80}}},
			at: node(func(at *fit.Place) { at.Ports = []world.Port{{Protocol: "TCP", Port: 80}} }), want: []reason.Code{reason.Port},
		},
		"OtherAddress": {
			why: "Two addresses can both have the port.", pod: world.Pod{Ports: []world.Port{{IP: "10.0.0.1", Protocol: "TCP", Port: 80}}},
			at: node(func(at *fit.Place) { at.Ports = []world.Port{{IP: "10.0.0.2", Protocol: "TCP", Port: 80}} }),
		},
		"SameAddress": {
			why: "One address has it once.", pod: world.Pod{Ports: []world.Port{{IP: "10.0.0.1", Port: 80}}},
			at: node(func(at *fit.Place) { at.Ports = []world.Port{{IP: "10.0.0.1", Protocol: "TCP", Port: 80}} }), want: []reason.Code{reason.Port},
		},
		"EveryAddress": {
			why: "On every address it is on each.", pod: world.Pod{Ports: []world.Port{{IP: "0.0.0.0", Port: 80}}},
			at: node(func(at *fit.Place) { at.Ports = []world.Port{{IP: "10.0.0.2", Port: 80}} }), want: []reason.Code{reason.Port},
		},
		"OnEach": {
			why: "Where it is taken on every address none can have it.", pod: world.Pod{Ports: []world.Port{{IP: "10.0.0.2", Port: 80}}},
			at: node(func(at *fit.Place) { at.Ports = []world.Port{{IP: "0.0.0.0", Port: 80}} }), want: []reason.Code{reason.Port},
		},
		"SecondPort": {
			why: "All of its ports have to be free.", pod: world.Pod{Ports: []world.Port{{Port: 81}, {Port: 80}}},
			at: node(func(at *fit.Place) { at.Ports = []world.Port{{Port: 82}, {Port: 80}} }), want: []reason.Code{reason.Port},
		},
		"OtherPort": {
			why: "Another port is free.", pod: world.Pod{Ports: []world.Port{{Port: 81}}},
			at: node(func(at *fit.Place) { at.Ports = []world.Port{{Port: 80}} }),
		},
		"OtherProtocol": {
			why: "So can two protocols.", pod: world.Pod{Ports: []world.Port{{Protocol: "UDP", Port: 80}}},
			at: node(func(at *fit.Place) { at.Ports = []world.Port{{Protocol: "TCP", Port: 80}} }),
		},
		"Volume": {
			why: "The volume lies in another zone.", pod: world.Pod{Volumes: []world.Volume{{ID: "v", Places: []label.Set{label.SetOf(label.Is("zone", "b"))}}}},
			at: node(nil), want: []reason.Code{reason.Volume},
		},
		"VolumeHere": {
			why: "It is reached from two zones, and the node is in one of them.", pod: world.Pod{Volumes: []world.Volume{{ID: "v", Places: []label.Set{label.SetOf(label.Is("zone", "b")), label.SetOf(label.Is("zone", "a"))}}}},
			at: node(nil),
		},
		"Everywhere": {
			why: "One of the places is anywhere.", pod: world.Pod{Volumes: []world.Volume{{ID: "v", Places: []label.Set{label.SetOf(label.Is("zone", "b")), {}}}}}, at: node(nil),
		},
		"SecondVolume": {
			why: "All of its volumes have to be reached.", pod: world.Pod{Volumes: []world.Volume{{ID: "u"}, {ID: "v", Places: []label.Set{label.SetOf(label.Is("zone", "b"))}}}}, at: node(nil), want: []reason.Code{reason.Volume},
		},
		"LastAttachment": {
			why: "There is one left.", pod: world.Pod{Volumes: []world.Volume{{ID: "w", Driver: "ebs"}}},
			at: node(func(at *fit.Place) {
				at.Limits, at.Attached = []world.DriverLimit{{Driver: "ebs", Count: 2}}, []fit.Attached{{Driver: "ebs", ID: "v"}, {Driver: "efs", ID: "x"}}
			}),
		},
		"TwiceTheSame": {
			why: "A volume that the pod names twice is attached once.", pod: world.Pod{Volumes: []world.Volume{{ID: "w", Driver: "ebs"}, {ID: "w", Driver: "ebs"}, {ID: "w", Driver: "efs"}}},
			at: node(func(at *fit.Place) { at.Limits = []world.DriverLimit{{Driver: "ebs", Count: 1}} }),
		},
		"TwoVolumes": {
			why: "Two are two.", pod: world.Pod{Volumes: []world.Volume{{ID: "w", Driver: "ebs"}, {ID: "x", Driver: "ebs"}}},
			at: node(func(at *fit.Place) {
				at.Limits = []world.DriverLimit{{Driver: "efs", Count: 9}, {Driver: "ebs", Count: 1}}
			}), want: []reason.Code{reason.VolumeLimit},
		},
		"Overdrawn": {
			why: "Who attaches nothing goes where too much is attached.", pod: world.Pod{Volumes: []world.Volume{{ID: "x"}}},
			at: node(func(at *fit.Place) {
				at.Limits, at.Attached = []world.DriverLimit{{Driver: "ebs", Count: 1}}, []fit.Attached{{Driver: "ebs", ID: "v"}, {Driver: "ebs", ID: "w"}}
			}),
		},
		"SharedVolume": {
			why: "A volume that is attached already takes no further attachment.", pod: world.Pod{Volumes: []world.Volume{{ID: "v", Driver: "ebs"}}},
			at: node(func(at *fit.Place) {
				at.Limits, at.Attached = []world.DriverLimit{{Driver: "ebs", Count: 1}}, []fit.Attached{{Driver: "ebs", ID: "v"}}
			}),
		},
		"Attachments": {
			why: "One more would be one too many.", pod: world.Pod{Volumes: []world.Volume{{ID: "w", Driver: "ebs"}}},
			at: node(func(at *fit.Place) {
				at.Limits, at.Attached = []world.DriverLimit{{Driver: "ebs", Count: 1}}, []fit.Attached{{Driver: "ebs", ID: "v"}}
			}), want: []reason.Code{reason.VolumeLimit},
		},
		"Everything": {
			why: "All objections are told, not the first.", pod: world.Pod{Requests: cpu(2000), NodeSelector: label.SetOf(label.Is("zone", "b"))},
			at: node(func(at *fit.Place) { at.Taints = []world.Taint{gpu} }), want: []reason.Code{reason.Taint, reason.Label, reason.Resource},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []reason.Code
			for _, w := range fit.Objections(&tc.pod, &tc.at) {
				got = append(got, w.Code)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
			if fits := fit.Fits(&tc.pod, &tc.at); fits != (len(tc.want) == 0) {
				t.Errorf("%s\nFits says %t, the objections are %v", tc.why, fits, got)
			}
		})
	}
}

// What is known of a machine that has not joined, and of one that is still forming.
func TestOf(t *testing.T) {
	b := world.NewBuilder()
	catalog := world.Catalog{Template: "t", Shapes: []world.Shape{
		{Name: "small", Capacity: cpu(2000), Labels: label.Exactly(map[string]string{label.Arch: "amd64", "family": "m"})},
		{Name: "large", Capacity: cpu(4000), Labels: label.Exactly(map[string]string{label.Arch: "amd64", "family": "c"})},
		{Name: "huge", Capacity: cpu(64000), Labels: label.Exactly(map[string]string{label.Arch: "arm64"})},
	}}
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	claim := world.Claim{Name: "c", Pool: pool, Template: "t", Requirements: label.SetOf(label.Is(label.InstanceType, "small", "large"), label.Is(label.Zone, "a"))}
	forming := world.Node{
		Name: "n", Pool: pool, Claim: "d", Allocatable: cpu(2000), Labels: map[string]string{},
		Taints: []world.Taint{{Key: "node.kubernetes.io/not-ready", Effect: world.NoSchedule}, {Key: "cilium", Effect: world.NoExecute}, {Key: "own", Effect: world.NoSchedule}},
	}
	gpus := amount.Of(amount.Entry{Name: "x/gpu", Value: 1000})
	for _, err := range []error{
		b.SetCatalog(catalog), b.SetClaim(claim), b.SetNode(forming),
		b.SetClaim(world.Claim{Name: "d", Pool: pool, StartupTaints: []world.Taint{{Key: "cilium", Effect: world.NoExecute}}, Allocatable: cpu(2000).Plus(gpus)}),
		b.SetDaemonSet(world.DaemonSet{Key: world.Key{Name: "log"}, Pod: world.Pod{Requests: cpu(100), Tolerations: []world.Toleration{{Exists: true}}}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(0)

	c := fit.Of(w, w.Place("c"))
	if got := c.Free.Value(amount.CPU); got != 1900 {
		t.Errorf("a claim that may become small or large has room for %d, want what both have less the daemon set: 1900", got)
	}
	if c.Labels[label.Zone] != "a" || c.Labels[label.Arch] != "amd64" || c.Labels[label.NodePool] != "p" {
		t.Errorf("the labels that every shape of the menu has are settled, got %v", c.Labels)
	}
	if r, ok := c.Open.Find("family"); !ok || len(r.Values) != 2 {
		t.Errorf("the family is open between two, got %v", c.Open)
	}

	n := fit.Of(w, w.Place("n"))
	if diff := cmp.Diff([]world.Taint{{Key: "own", Effect: world.NoSchedule}}, n.Taints); diff != "" {
		t.Errorf("only taints that stay count on a machine that is forming: -want +got\n%s", diff)
	}
	if got := n.Free.Value("x/gpu"); got != 1000 {
		t.Errorf("a device that the node does not report yet counts as its claim says, got %d", got)
	}
}

// A toleration is advised for taints that users set, not for those that say that a node goes or cannot run pods.
func TestWhichTaintsToTolerate(t *testing.T) {
	users, ours := world.Taint{Key: "team", Value: "ml", Effect: world.NoSchedule}, world.Taint{Key: "karpenter.sh/disrupted", Effect: world.NoSchedule}
	tests := map[string]struct {
		why    string
		taints []world.Taint
		want   string
	}{
		"Users":    {"A user's taint can be tolerated.", []world.Taint{users}, "add a toleration for team=ml:NoSchedule"},
		"Goes":     {"A node that goes takes no pods, and none should ask it to.", []world.Taint{ours}, ""},
		"Both":     {"The user's is named, wherever it stands.", []world.Taint{ours, users}, "add a toleration for team=ml:NoSchedule"},
		"NotReady": {"A node that is not ready can run none.", []world.Taint{{Key: "node.kubernetes.io/not-ready", Effect: world.NoSchedule}}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fit.Taints(&world.Pod{}, &fit.Place{Taints: tc.taints}); got == nil || got.Hint != tc.want {
				t.Errorf("%s\n%+v, want the hint %q", tc.why, got, tc.want)
			}
		})
	}
}
