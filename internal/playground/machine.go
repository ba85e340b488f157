package playground

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

// A MachineRequest asks for machines that join by themselves, without any autoscaler.
type MachineRequest struct {
	Type   string            `json:"type"`
	Zone   string            `json:"zone,omitempty"` // empty: zones that offer the type, in turn
	Count  int               `json:"count"`
	Labels map[string]string `json:"labels,omitempty"`
	Taints []string          `json:"taints,omitempty"` // key=value:Effect
	Faults kubelet.Faults    `json:"faults"`
}

const maxMachines = 5000

// machines returns the machines that r asks for. Their IDs and addresses are random.
func machines(c *catalog.Catalog, region string, r MachineRequest) ([]kubelet.Machine, error) {
	t, ok := c.Type(r.Type)
	if !ok {
		return nil, noType(c, r.Type)
	}
	if t.Arch == "" {
		return nil, fmt.Errorf("Kubernetes does not run on the instance type %s", r.Type)
	}
	if r.Count < 1 || r.Count > maxMachines {
		return nil, fmt.Errorf("%d machines are not between 1 and %d", r.Count, maxMachines)
	}
	place, err := c.Region(region)
	if err != nil {
		return nil, err
	}
	zones := place.Offered(r.Type)
	if r.Zone != "" {
		if !slices.Contains(zones, r.Zone) {
			return nil, fmt.Errorf("zone %q does not offer %s; these do: %s", r.Zone, r.Type, strings.Join(zones, ", "))
		}
		zones = []string{r.Zone}
	}
	if len(zones) == 0 {
		return nil, fmt.Errorf("region %s does not offer %s", region, r.Type)
	}
	var out []kubelet.Machine
	for i := range r.Count {
		var b [11]byte
		if _, err := rand.Read(b[:]); err != nil {
			return nil, err
		}
		zone, id := zones[i%len(zones)], "i-"+hex.EncodeToString(b[:])[:17]
		name := fmt.Sprintf("ip-10-%d-%d-%d", b[9], b[10], 4+b[8]%250)
		out = append(out, kubelet.Machine{
			ID: id, ProviderID: "aws:///" + zone + "/" + id, NodeName: name + "." + domain(region),
			InstanceType: r.Type, Zone: zone, ZoneID: place.ZoneID(zone), Region: region, Arch: t.Arch,
			PrivateIP: strings.ReplaceAll(strings.TrimPrefix(name, "ip-"), "-", "."), Image: "Amazon Linux 2",
			UserData: []byte(userData(r)), Capacity: capacity(t), Faults: r.Faults,
		})
	}
	return out, nil
}

// domain is what AWS appends to the names of a region's machines.
func domain(region string) string {
	if region == "us-east-1" {
		return "ec2.internal"
	}
	return region + ".compute.internal"
}

// userData is that of a node that no controller manages.
func userData(r MachineRequest) string {
	labels := []string{}
	for _, k := range slices.Sorted(maps.Keys(r.Labels)) {
		labels = append(labels, k+"="+r.Labels[k])
	}
	args := []string{}
	if len(labels) > 0 {
		args = append(args, "--node-labels="+strings.Join(labels, ","))
	}
	if len(r.Taints) > 0 {
		args = append(args, "--register-with-taints="+strings.Join(r.Taints, ","))
	}
	return "#!/bin/bash -xe\n/etc/eks/bootstrap.sh 'playground' --kubelet-extra-args '" + strings.Join(args, " ") + "'\n"
}

// capacity is what a machine of type t reports. Some memory never reaches the operating system; three percent is about
// what is missing on most types.
func capacity(t *catalog.Type) corev1.ResourceList {
	l := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(t.VCPUs), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(t.MemoryMiB*97/100<<20, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(20<<30, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(int64(t.DefaultCardENIs*(t.IPv4PerENI-1)+2), resource.DecimalSI),
	}
	for kind, of := range map[catalog.Kind]map[string]corev1.ResourceName{
		catalog.GPU:       {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu"},
		catalog.Neuron:    {"AWS": "aws.amazon.com/neuron"},
		catalog.Inference: {"AWS": "aws.amazon.com/neuron"},
	} {
		if a, ok := t.Accelerator(kind); ok && a.Count > 0 && of[a.Manufacturer] != "" {
			l[of[a.Manufacturer]] = *resource.NewQuantity(int64(a.Count), resource.DecimalSI)
		}
	}
	return l
}
