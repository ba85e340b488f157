package disrupt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
)

func TestSheltered(t *testing.T) {
	const now = 10_000
	tests := map[string]struct {
		why         string
		pod         world.Pod
		foreign     bool
		still, over []string
	}{
		"Runs":    {why: "Half of its time is left.", pod: world.Pod{Started: now - 60, Disruption: world.PodDisruption{ForbiddenFor: 120}}, still: []string{"a"}},
		"Over":    {why: "Its time was over a minute ago.", pod: world.Pod{Started: now - 180, Disruption: world.PodDisruption{ForbiddenFor: 120}}, over: []string{"a"}},
		"Last":    {why: "It has a second left.", pod: world.Pod{Started: now - 119, Disruption: world.PodDisruption{ForbiddenFor: 120}}, still: []string{"a"}},
		"Ends":    {why: "Its time is over now.", pod: world.Pod{Started: now - 120, Disruption: world.PodDisruption{ForbiddenFor: 120}}, over: []string{"a"}},
		"Lately":  {why: "Its time was over not quite five minutes ago.", pod: world.Pod{Started: now - 419, Disruption: world.PodDisruption{ForbiddenFor: 120}}, over: []string{"a"}},
		"Told":    {why: "Five minutes ago.", pod: world.Pod{Started: now - 420, Disruption: world.PodDisruption{ForbiddenFor: 120}}},
		"Free":    {why: "It forbids nothing.", pod: world.Pod{Started: now - 60}},
		"Long":    {why: "Its time has been over for long.", pod: world.Pod{Started: now - 3600, Disruption: world.PodDisruption{ForbiddenFor: 120}}},
		"Starts":  {why: "Its time counts from its start.", pod: world.Pod{Disruption: world.PodDisruption{ForbiddenFor: 120}}},
		"Ever":    {why: "It forbids it for good.", pod: world.Pod{Started: now - 60, Disruption: world.PodDisruption{Forbidden: true, ForbiddenFor: 120}}},
		"Goes":    {why: "It goes by itself.", pod: world.Pod{Started: now - 60, Terminating: true, Disruption: world.PodDisruption{ForbiddenFor: 120}}},
		"Foreign": {why: "This controller would not move it.", foreign: true, pod: world.Pod{Started: now - 60, Disruption: world.PodDisruption{ForbiddenFor: 120}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			tc.pod.Key, tc.pod.Node = world.Key{Namespace: "d", Name: "a"}, "n"
			errs := []error{b.SetNode(world.Node{Name: "n"}), b.SetPod(tc.pod)}
			if !tc.foreign {
				errs = append(errs, b.SetNode(world.Node{Name: "n", Claim: "n"}), b.SetClaim(world.Claim{Name: "n", Node: "n"}))
			}
			for _, err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
			still, over := disrupt.Sheltered(b.Snapshot(now))
			if diff := cmp.Diff([][]string{tc.still, tc.over}, [][]string{names(still), names(over)}); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

func names(pods []*world.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}
