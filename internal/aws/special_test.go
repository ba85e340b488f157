package aws_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Machines that are not plain Linux on x86 boot their own image, say what they
// are, and hold what they have.
func TestSpecialMachines(t *testing.T) {
	credentials(t)
	tests := map[string]struct {
		why      string
		family   string
		alias    string
		shape    string
		image    string // the beginning of its name
		labels   map[string]string
		capacity map[string]int64
		data     string // what its user data holds
	}{
		"Windows": {
			why: "Windows nodes are set up by a script of PowerShell.", family: "Windows2022", alias: "windows2022@latest", shape: "m5.large", image: "Windows_Server-2022-English-Core-EKS_Optimized",
			labels:   map[string]string{"kubernetes.io/os": "windows", "node.kubernetes.io/windows-build": "10.0.20348"},
			capacity: map[string]int64{"pods": 110, "vpc.amazonaws.com/PrivateIPv4Address": 9}, data: "<powershell>",
		},
		"Neuron": {
			why: "AWS' own accelerators have an image of theirs.", family: "AL2023", alias: "al2023@latest", shape: "inf2.xlarge", image: "amazon-eks-node-al2023-x86_64-neuron",
			labels:   map[string]string{"karpenter.k8s.aws/instance-accelerator-manufacturer": "aws"},
			capacity: map[string]int64{"aws.amazon.com/neuron": 1, "aws.amazon.com/neuroncore": 2}, data: "kind: NodeConfig",
		},
		"GPU": {
			why: "So have GPUs.", family: "Bottlerocket", alias: "bottlerocket@latest", shape: "g5.xlarge", image: "bottlerocket-aws-k8s-1.34-nvidia",
			capacity: map[string]int64{"nvidia.com/gpu": 1}, data: "[settings.kubernetes]",
		},
		"ARM": {
			why: "And Graviton.", family: "AL2023", alias: "al2023@latest", shape: "m6g.large", image: "amazon-eks-node-al2023-arm64-standard",
			labels: map[string]string{"kubernetes.io/arch": "arm64"}, data: "kind: NodeConfig",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t, sold: []string{"m5", "inf2", "g5", "m6g"}, change: func(c *nodeclass.Class) {
					c.Family, c.Images = tc.family, []nodeclass.ImageSelector{{Alias: tc.alias}}
				}}
				o := order("one", 1, label.OnDemand)
				o.Menu = []string{tc.shape}
				d := w.start()
				out := d.Launch(t.Context(), []cloud.Order{o})[0]
				if out.Err != nil {
					t.Fatal(tc.why, out.Err)
				}
				m := out.Machines[0]
				for _, i := range w.account().Market.Images() {
					if i.ID == m.Image && !strings.HasPrefix(i.Name, tc.image) {
						t.Errorf("%s It booted %s", tc.why, i.Name)
					}
				}
				for key, want := range tc.labels {
					if m.Labels[key] != want {
						t.Errorf("%s Label %s is %q", tc.why, key, m.Labels[key])
					}
				}
				for name, want := range tc.capacity {
					if got := m.Capacity.Value(name) / amount.Unit; got != want {
						t.Errorf("%s It has %d %s, want %d", tc.why, got, name, want)
					}
				}
				text := decoded(t, w.account().Market.Instances()[0].Data.UserData)
				if !strings.Contains(text, tc.data) {
					t.Errorf("%s Its user data:\n%s", tc.why, text)
				}
				if got, want := d.UserData(), map[string]int{"default": len(text)}; !maps.Equal(got, want) {
					t.Errorf("the user data of classes has %v bytes, want %v", got, want)
				}
			})
		})
	}
}

// Machines whose pods run in Nitro enclaves are started with them switched on, and no others.
func TestEnclaves(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, sold: []string{"m5"}}
		d := w.start()
		for i, want := range []bool{false, true} {
			o := order("one", 1, label.OnDemand)
			o.Token, o.Menu = strconv.Itoa(i), []string{"m5.xlarge"}
			if want {
				o.Overlaid = o.Overlaid.With("eks.amazonaws.com/nip-slots", amount.Unit)
			}
			out := d.Launch(t.Context(), []cloud.Order{o})[0]
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			got := w.account().Market.Instances()[i].Data.Enclaves
			if on := got != nil && *got; on != want {
				t.Errorf("enclaves of machine %d are %v, want %v", i, on, want)
			}
		}
	})
}
