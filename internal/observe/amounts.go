package observe

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tenon-sh/tenon/engine/amount"
)

// Amounts reads a list of resources. What is negative counts as zero and what
// is too large for a count saturates: neither may ever look like room.
func Amounts(l corev1.ResourceList) amount.List {
	if len(l) == 0 {
		return nil
	}
	out := make(amount.List, 0, len(l))
	for name, q := range l {
		out = append(out, amount.Entry{Name: string(name), Value: milli(q)})
	}
	slices.SortFunc(out, func(a, b amount.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// beyond is a power of ten that no count reaches.
const beyond = 20

// milli is q in thousandths. An API server stores pods with quantities like
// 1E9999999, and to compare such a one with anything takes seconds or longer: its power of ten says enough.
func milli(q resource.Quantity) int64 {
	if q.Sign() <= 0 {
		return 0
	}
	if v, whole := q.AsInt64(); whole && v < math.MaxInt64/amount.Unit {
		return v * amount.Unit
	}
	switch {
	case -q.AsDec().Scale() >= beyond, q.CmpInt64(math.MaxInt64/amount.Unit) >= 0:
		return math.MaxInt64
	}
	return q.MilliValue()
}

// ResourceList writes amounts the way the API shows them.
func ResourceList(l amount.List) corev1.ResourceList {
	if len(l) == 0 {
		return nil
	}
	out := make(corev1.ResourceList, len(l))
	for _, e := range l {
		out[corev1.ResourceName(e.Name)] = quantity(e)
	}
	return out
}

func quantity(e amount.Entry) resource.Quantity {
	format := resource.DecimalSI
	if e.Name == amount.Memory || e.Name == amount.Ephemeral || strings.HasPrefix(e.Name, "hugepages-") {
		format = resource.BinarySI
	}
	if e.Value%amount.Unit == 0 {
		return *resource.NewQuantity(e.Value/amount.Unit, format)
	}
	return *resource.NewMilliQuantity(e.Value, format)
}

// negative names the resources of l that are below zero.
func negative(l corev1.ResourceList) []string {
	var out []string
	for name, q := range l {
		if q.Sign() < 0 {
			out = append(out, string(name))
		}
	}
	slices.Sort(out)
	return out
}
