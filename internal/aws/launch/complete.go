package launch

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/drift"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Complete returns machines that were found with what their claims are to show.
// Of which class they were made is not written on them: it is taken for what it is today.
func (b *Launcher) Complete(ctx context.Context, t cloud.Template, machines []cloud.Machine) ([]cloud.Machine, error) {
	out := slices.Clone(machines)
	for i := range out {
		labels := map[string]string{
			label.InstanceType: out[i].Shape, label.Zone: out[i].Zone, label.CapacityType: out[i].CapacityType, label.Region: b.Region,
		}
		maps.Copy(labels, out[i].Labels)
		out[i].Labels = labels
	}
	sel, err := b.Selection.Of(ctx, t)
	if err != nil {
		return out, err
	}
	want, err := b.demand(ctx, cloud.Order{Template: t}, sel)
	if err != nil {
		return out, err
	}
	for i := range out {
		want.complete(&out[i])
	}
	return out, nil
}

// complete fills in what follows from the machine's shape and class.
func (d demand) complete(m *cloud.Machine) {
	m.Annotations = map[string]string{d.sel.Class.HashAnnotation(): d.sel.Class.Hash, d.sel.Class.HashAnnotation() + "-version": d.sel.Class.HashVersion}
	if groups := d.sel.GroupIDs(); d.sel.Class.LaunchTemplate == "" && len(m.Groups) > 0 && !slices.Equal(m.Groups, groups) {
		m.Annotations[drift.BornWith] = strings.Join(m.Groups, ",")
	}
	i, ok := d.shape(m.Shape)
	if !ok {
		return
	}
	s := d.shapes.Shapes[i]
	m.Capacity, m.Allocatable = s.Capacity, s.Allocatable()
	own := m.Labels
	m.Labels = map[string]string{}
	for _, r := range s.Labels {
		if !r.Not && len(r.Values) == 1 {
			m.Labels[r.Key] = r.Values[0]
		}
	}
	for _, o := range s.Offers {
		if o.Zone == m.Zone && o.CapacityType == m.CapacityType && o.Reservation == m.Reservation {
			maps.Copy(m.Labels, o.Labels)
		}
	}
	maps.Copy(m.Labels, map[string]string{
		label.InstanceType: m.Shape, label.Zone: m.Zone, label.CapacityType: m.CapacityType, label.Region: d.shapes.Region,
	})
	maps.Copy(m.Labels, own)
	if d.sel.Class.Legacy && m.Image != "" {
		m.Labels["karpenter.k8s.aws/instance-ami-id"] = m.Image
	}
}
