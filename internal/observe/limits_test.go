package observe_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/observe"
)

func TestLimits(t *testing.T) {
	cpu := func(milli int64) amount.List { return amount.Of(amount.Entry{Name: amount.CPU, Value: milli}) }
	for name, tc := range map[string]struct {
		why, spec string
		want      amount.List
	}{
		"None":     {"What is requested and not limited has no limit.", `containers: [{resources: {requests: {cpu: 1}}}]`, amount.List{}},
		"Sum":      {"Containers run together.", `containers: [{resources: {limits: {cpu: 1}}}, {resources: {limits: {cpu: 500m}}}, {}]`, cpu(1500)},
		"Start":    {"Steps of starting come one after another, and before the containers.", `{initContainers: [{resources: {limits: {cpu: 2}}}, {resources: {limits: {cpu: 3}}}], containers: [{resources: {limits: {cpu: 1}}}]}`, cpu(3000)},
		"Sidecar":  {"A sidecar stays.", `{initContainers: [{restartPolicy: Always, resources: {limits: {cpu: 1}}}, {resources: {limits: {cpu: 2}}}], containers: [{resources: {limits: {cpu: 1}}}]}`, cpu(3000)},
		"Pod":      {"The pod's own limit stands for all of its containers.", `{resources: {limits: {cpu: 4}}, containers: [{resources: {limits: {cpu: 1}}}]}`, cpu(4000)},
		"Overhead": {"Overhead is limited with what it is added to.", `{overhead: {cpu: 250m, memory: 1Gi}, containers: [{resources: {limits: {cpu: 1}}}]}`, cpu(1250)},
	} {
		t.Run(name, func(t *testing.T) {
			var p corev1.Pod
			if err := yaml.UnmarshalStrict([]byte(tc.spec), &p.Spec); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, observe.Limits(&p)); diff != "" {
				t.Errorf("%s\n%s", tc.why, diff)
			}
		})
	}
}
