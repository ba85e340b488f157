package types

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// Signals by which the kubelet evicts pods.
const (
	memoryAvailable = "memory.available"
	diskAvailable   = "nodefs.available"
)

// overhead is what of its capacity a node does not give to pods: kept for the
// kubelet, kept for the system, and kept free so that nothing is evicted.
func overhead(t *catalog.Type, s Settings, have amount.List) amount.List {
	return kubeReserved(t, s, have.Value(amount.Pods)/amount.Unit).
		Plus(amountsOf(s.Kubelet.SystemReserved)).
		Plus(eviction(s, have))
}

// kubeReserved is what the kubelet and the container runtime need.
func kubeReserved(t *catalog.Type, s Settings, pods int64) amount.List {
	if !familyOf(s.Class.Family).leanReserve {
		pods = networkPods(t, s, 0)
	}
	list := amount.Of(
		amount.Entry{Name: amount.CPU, Value: reservedCPU(int64(t.VCPUs))},
		amount.Entry{Name: amount.Memory, Value: (11*pods + 255) * mib * amount.Unit},
		amount.Entry{Name: amount.Ephemeral, Value: gib * amount.Unit},
	)
	for _, e := range amountsOf(s.Kubelet.KubeReserved) {
		list = list.With(e.Name, e.Value)
	}
	return list
}

// reservedCPU in thousandths of a core: 6 % of the first, 1 % of the second, half
// a per cent of the third and fourth, a quarter of a per cent of the rest.
func reservedCPU(cores int64) int64 {
	steps := []struct{ cores, perCore int64 }{{1, 600}, {1, 100}, {2, 50}, {math.MaxInt64, 25}} // ten-thousandths
	var sum int64
	for _, step := range steps {
		n := min(cores, step.cores)
		sum += n * step.perCore / 10
		cores -= n
	}
	return sum
}

// eviction is what the kubelet keeps free: by default 100Mi of memory and a tenth of the disk.
func eviction(s Settings, have amount.List) amount.List {
	disk := have.Value(amount.Ephemeral)
	list := amount.Of(
		amount.Entry{Name: amount.Memory, Value: 100 * mib * amount.Unit},
		amount.Entry{Name: amount.Ephemeral, Value: wholes(disk, big.NewRat(1, 10))},
	)
	for signal, resource := range map[string]string{memoryAvailable: amount.Memory, diskAvailable: amount.Ephemeral} {
		said, ok := s.Kubelet.EvictionHard[signal]
		if !ok {
			continue
		}
		if v, err := threshold(said, have.Value(resource)); err == nil && v >= 0 {
			list = list.With(resource, v)
		}
	}
	return list
}

// threshold reads an eviction threshold: a quantity, or a part of what there is.
// All of it means that the signal is off.
func threshold(said string, of int64) (int64, error) {
	number, isPercent := strings.CutSuffix(said, "%")
	if !isPercent {
		return amount.Parse(said)
	}
	percent, ok := new(big.Rat).SetString(number)
	if !ok || percent.Sign() < 0 {
		return 0, fmt.Errorf("%q is no percentage", said)
	}
	if percent.Cmp(big.NewRat(100, 1)) >= 0 {
		return 0, nil
	}
	return wholes(of, percent.Quo(percent, big.NewRat(100, 1))), nil
}

// wholes is a part of a value, rounded up to whole units.
func wholes(of int64, part *big.Rat) int64 {
	r := new(big.Rat).Mul(new(big.Rat).SetFrac64(of, amount.Unit), part)
	n, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return n.Int64() * amount.Unit
}

// amountsOf reads quantities and leaves out what is none, or less than nothing;
// such settings are refused where the class is validated.
func amountsOf(m map[string]string) amount.List {
	var list []amount.Entry
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if v, err := amount.Parse(m[name]); err == nil && v >= 0 {
			list = append(list, amount.Entry{Name: name, Value: v})
		}
	}
	return amount.Of(list...)
}
