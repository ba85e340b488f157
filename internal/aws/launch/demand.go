package launch

import (
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/selection"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// demand is an order with all that decides what it may become.
type demand struct {
	order   cloud.Order
	sel     selection.Selection
	shapes  world.Catalog
	away    []string // ids of zones
	soldOut func(shape, zone, capacityType, group string) string
	kubelet func(shape string) (kubelet.Config, error)

	cluster     string
	anyReserved bool // machines may use reservations that are open to all
}

func (d demand) allows(key, value string) bool {
	r, ok := d.order.Requirements.Find(key)
	return !ok || r.Has(value)
}

// wants reports how much of a resource each machine's pods ask for.
func (d demand) wants(resource string) bool {
	return d.order.Requests.Max(d.order.Overlaid).Value(resource) >= amount.Unit
}

// shape returns the index of a shape of the catalogue, which is sorted by name.
func (d demand) shape(name string) (int, bool) {
	return slices.BinarySearchFunc(d.shapes.Shapes, name, func(s world.Shape, name string) int { return strings.Compare(s.Name, name) })
}

// addresses is how many a machine and its pods take.
func (d demand) addresses(shape string) int {
	if i, ok := d.shape(shape); ok {
		return max(1, int(d.shapes.Shapes[i].Capacity.Value(amount.Pods)/amount.Unit))
	}
	return 1
}

// tags are what the machines of the order carry from birth.
func (d demand) tags() map[string]string {
	tags := d.baseTags()
	tags[machine.TagOrder] = d.order.Token
	return tags
}

// baseTags are the tags that also go on what is made beside a machine.
func (d demand) baseTags() map[string]string {
	own := map[string]string{machine.Owned(d.cluster): "owned", machine.TagCluster: d.cluster}
	if d.sel.Class.Legacy {
		own[machine.TagProvisioner] = d.order.Pool.Name
		own[machine.TagName] = machine.TagProvisioner + "/" + d.order.Pool.Name
	} else {
		own[machine.TagNodePool] = d.order.Pool.Name
		own[machine.TagClass] = d.sel.Class.Ref.Name
	}
	tags := maps.Clone(d.sel.Class.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	for k, v := range own {
		if _, users := tags[k]; !users || k != machine.TagName {
			tags[k] = v
		}
	}
	for k, v := range d.order.Tags {
		tags[k] = v
	}
	return tags
}
