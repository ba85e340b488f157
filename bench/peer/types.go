package peer

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
)

// known tells the library which labels are the cloud's, as its AWS provider does at start.
func known() { karpenter.WellKnownLabels.Insert(awsv1.WellKnownLabels()...) }

// instanceTypes writes the catalogue in the library's terms: the same types,
// the same allocatable, the same offerings at the same prices.
func instanceTypes(c world.Catalog) []*cloudprovider.InstanceType {
	out := make([]*cloudprovider.InstanceType, 0, len(c.Shapes))
	for _, s := range c.Shapes {
		t := &cloudprovider.InstanceType{
			Name:         s.Name,
			Requirements: scheduling.NewRequirements(),
			Capacity:     resources(s.Capacity),
			Overhead:     &cloudprovider.InstanceTypeOverhead{KubeReserved: resources(s.Overhead)},
		}
		for _, r := range s.Labels {
			if r.Present {
				t.Requirements.Add(scheduling.NewRequirement(r.Key, corev1.NodeSelectorOpIn, r.Values...))
			} else {
				t.Requirements.Add(scheduling.NewRequirement(r.Key, corev1.NodeSelectorOpDoesNotExist))
			}
		}
		t.Requirements.Add(sold(s)...)
		for _, o := range s.Offers {
			labels := map[string]string{corev1.LabelTopologyZone: o.Zone, karpenter.CapacityTypeLabelKey: o.CapacityType}
			t.Offerings = append(t.Offerings, &cloudprovider.Offering{
				Requirements: scheduling.NewLabelRequirements(labels), Price: float64(o.Price) / 1e6, Available: !o.Gone,
			})
		}
		out = append(out, t)
	}
	return out
}

// sold is where and how a shape is sold, which a type of the library says of itself.
func sold(s world.Shape) []*scheduling.Requirement {
	zones, ways := sets.New[string](), sets.New[string]()
	for _, o := range s.Offers {
		zones.Insert(o.Zone)
		ways.Insert(o.CapacityType)
	}
	return []*scheduling.Requirement{
		scheduling.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, sets.List(zones)...),
		scheduling.NewRequirement(karpenter.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, sets.List(ways)...),
	}
}

// resources writes amounts as Kubernetes does, in whole units where they are whole.
func resources(l amount.List) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, e := range l {
		format := resource.DecimalSI
		if e.Name == amount.Memory || e.Name == amount.Ephemeral {
			format = resource.BinarySI
		}
		q := resource.NewMilliQuantity(e.Value, format)
		if e.Value%amount.Unit == 0 {
			q = resource.NewQuantity(e.Value/amount.Unit, format)
		}
		out[corev1.ResourceName(e.Name)] = *q
	}
	return out
}

// recast reads an object of ours as the library's type of the same API.
func recast[To any](from any) (*To, error) {
	data, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	var to To
	if err := json.Unmarshal(data, &to); err != nil {
		return nil, fmt.Errorf("recast %T: %w", from, err)
	}
	return &to, nil
}

// recastAll reads objects of ours as the library's.
func recastAll[To, From any](from []From) ([]*To, error) {
	out := make([]*To, 0, len(from))
	for _, f := range from {
		t, err := recast[To](f)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return slices.Clip(out), nil
}
