package kubelet_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/aws/kubelet"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		why  string
		raw  string
		want kubelet.Config
	}{
		"Nothing": {why: "No settings are the zero Config.", raw: ""},
		"Null":    {why: "JSON's null says nothing.", raw: "null"},
		"All": {
			why: "Every setting that has a meaning here is read; others are kept as they are.",
			raw: `{"maxPods":58,"podsPerCore":4,"kubeReserved":{"cpu":"100m","memory":"1Gi"},"systemReserved":{"cpu":1},
				"evictionHard":{"memory.available":"5%"},"evictionSoft":{"memory.available":"10%"},"evictionSoftGracePeriod":{"memory.available":"1m"},
				"evictionMaxPodGracePeriod":60,"imageGCHighThresholdPercent":85,"imageGCLowThresholdPercent":80,
				"cpuCFSQuota":false,"clusterDNS":["10.0.0.10"],"serializeImagePulls":false}`,
			want: kubelet.Config{
				MaxPods: new(int64(58)), PodsPerCore: new(int64(4)),
				KubeReserved: map[string]string{"cpu": "100m", "memory": "1Gi"}, SystemReserved: map[string]string{"cpu": "1"},
				EvictionHard: map[string]string{"memory.available": "5%"}, EvictionSoft: map[string]string{"memory.available": "10%"},
				EvictionGrace: map[string]string{"memory.available": "1m"}, EvictionMaxGrace: new(int64(60)),
				ImageGCHigh: new(int64(85)), ImageGCLow: new(int64(80)), CPUCFSQuota: new(false), ClusterDNS: []string{"10.0.0.10"},
			},
		},
		"Expressions": {
			why: "What is no number is an expression, and stands apart.",
			raw: `{"maxPods":"default_enis * 2","kubeReserved":{"cpu":"vcpus * 10","memory":"1Gi"}}`,
			want: kubelet.Config{
				KubeReserved: map[string]string{"memory": "1Gi"},
				Expressions:  kubelet.Expressions{MaxPods: "default_enis * 2", KubeReserved: map[string]string{"cpu": "vcpus * 10"}},
			},
		},
		"NumberAsText": {why: "A number is one in quotes too.", raw: `{"maxPods":"110"}`, want: kubelet.Config{MaxPods: new(int64(110))}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := kubelet.Parse([]byte(tc.raw))
			if err != nil {
				t.Fatal(err)
			}
			if tc.raw != "" && tc.raw != "null" {
				var keys map[string]json.RawMessage
				if err := json.Unmarshal([]byte(tc.raw), &keys); err != nil {
					t.Fatal(err)
				}
				if len(got.All) != len(keys) {
					t.Errorf("%d of %d settings kept as written", len(got.All), len(keys))
				}
			}
			got.All = nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct{ raw, names string }{
		"NotJSON":      {`{"maxPods":`, "kubelet settings"},
		"TwoObjects":   {`{} {}`, "more than one"},
		"NotAnObject":  {`[1]`, "kubelet settings"},
		"Negative":     {`{"podsPerCore":-1}`, "podsPerCore"},
		"Fraction":     {`{"maxPods":1.5}`, "maxPods"},
		"NegativeText": {`{"maxPods":"-3"}`, "maxPods"},
		"Minus":        {`{"kubeReserved":{"cpu":"-vcpus"}}`, "kubeReserved.cpu must be at least 0, or an expression that does not begin with a minus"},
		"NotAMap":      {`{"kubeReserved":"1Gi"}`, "kubeReserved"},
		"DeepMap":      {`{"evictionHard":{"memory.available":{}}}`, "evictionHard.memory.available"},
		"NotAList":     {`{"clusterDNS":"10.0.0.10"}`, "clusterDNS"},
		"NoText":       {`{"podsPerCore":"\u0000"}`, `is "\x00"`},
		"NoKey":        {`{"evictionHard":{"\u0000":{}}}`, `"evictionHard.\x00" must be`},
		"NotAFlag":     {`{"cpuCFSQuota":"no"}`, "cpuCFSQuota"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := kubelet.Parse([]byte(tc.raw)); err == nil || !strings.Contains(err.Error(), tc.names) {
				t.Errorf("%s: got error %v, want one that names %s", tc.raw, err, tc.names)
			}
		})
	}
}

// FuzzParse wants an answer for whatever stands in a class.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{``, `{}`, `{"maxPods":"x"}`, `{"kubeReserved":{"cpu":1e400}}`, `{"clusterDNS":[null]}`, `[]`} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		c, err := kubelet.Parse([]byte(raw))
		if err == nil && c.MaxPods != nil && *c.MaxPods < 0 {
			t.Errorf("%q: %d pods", raw, *c.MaxPods)
		}
	})
}
