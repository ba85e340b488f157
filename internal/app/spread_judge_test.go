package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// Default constraints are refused if kube-scheduler refuses them in its configuration,
// or the API server in a pod that states them itself: kube-scheduler does not look at
// all that counts. What both take is taken.
func TestDefaultSpreadIsWhatOthersTake(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := make([][]corev1.TopologySpreadConstraint, 150)
	for i := range drawn {
		for range 1 + rng.IntN(2) {
			drawn[i] = append(drawn[i], drawConstraint(rng))
		}
	}
	refusal := scheduler(t, drawn)
	c, ns := kubetest.Client(t), kubetest.Namespace(t)
	taken := 0
	for i, list := range drawn {
		text, err := json.Marshal(map[string]any{"podTopologySpread": map[string]any{"defaultConstraints": list}})
		if err != nil {
			t.Fatal(err)
		}
		_, got := ParseSchedulerConfig(string(text))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "p"}, Spec: corev1.PodSpec{TopologySpreadConstraints: list, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		stated := c.Create(t.Context(), pod, client.DryRunAll)
		if stated != nil && !apierrors.IsInvalid(stated) {
			t.Fatal(stated)
		}
		inConfig := strings.Contains(refusal, fmt.Sprintf("profiles[%d].", i))
		if refused := inConfig || stated != nil; refused != (got != nil) {
			t.Errorf("%s\nhere: %v\nof a pod: %v\nby kube-scheduler: %t", text, got, stated, inConfig)
		} else if !refused {
			taken++
		}
	}
	if taken < 10 || taken > len(drawn)-10 {
		t.Errorf("%d of %d are taken: that says little", taken, len(drawn))
	}
}

// drawConstraint makes up a constraint of which most fields are mostly right.
func drawConstraint(rng *rand.Rand) corev1.TopologySpreadConstraint {
	out := corev1.TopologySpreadConstraint{
		MaxSkew: mostly[int32](rng, 1, 3, 0, -1), TopologyKey: mostly(rng, "topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack", "", "a b", "/zone"),
		WhenUnsatisfiable: mostly(rng, corev1.DoNotSchedule, corev1.ScheduleAnyway, "", "Perhaps"),
	}
	if rng.IntN(3) == 0 {
		out.MinDomains = new(mostly[int32](rng, 2, 1, 0, -1))
	}
	for _, p := range []**corev1.NodeInclusionPolicy{&out.NodeAffinityPolicy, &out.NodeTaintsPolicy} {
		if rng.IntN(3) == 0 {
			*p = new(mostly(rng, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore, "Maybe", "", "honor"))
		}
	}
	if rng.IntN(10) == 0 {
		out.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	if rng.IntN(10) == 0 {
		out.MatchLabelKeys = []string{"app"}
	}
	return out
}

// mostly draws one of values, half of the time the first, and of the others each as often.
func mostly[T any](rng *rand.Rand, values ...T) T {
	if rng.IntN(2) == 0 {
		return values[0]
	}
	return values[rng.IntN(len(values))]
}

// scheduler is what kube-scheduler itself says of a configuration in which each list is that of a profile.
func scheduler(t *testing.T, lists [][]corev1.TopologySpreadConstraint) string {
	t.Helper()
	type m = map[string]any
	profiles := make([]m, len(lists))
	for i, l := range lists {
		profiles[i] = m{"schedulerName": fmt.Sprint("s", i), "pluginConfig": []m{{"name": "PodTopologySpread", "args": m{"defaultingType": "List", "defaultConstraints": l}}}}
	}
	text, err := json.Marshal(m{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := kube.Find()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, "kube-scheduler", "--config", file, "--master", "http://127.0.0.1:1", "--write-config-to", filepath.Join(t.TempDir(), "out"))
	cmd.Stdout, cmd.Stderr = &said, &said
	if cmd.Run() == nil || !strings.Contains(said.String(), "defaultConstraints") {
		t.Fatalf("kube-scheduler took them all, or did not look: %s", said.String())
	}
	return said.String()
}
