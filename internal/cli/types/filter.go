package types

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
)

// filter is what the user asks of types, as written.
type filter struct {
	families, archs, categories, zones, labels []string
	capacityType                               string
	minCPU, maxCPU, minMemory, maxMemory       string
	maxPrice                                   float64
	gpu                                        bool
}

func (f *filter) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringSliceVar(&f.families, "family", nil, "only these families: c5,m7g")
	fs.StringSliceVar(&f.categories, "category", nil, "only these categories: c,m,r")
	fs.StringSliceVar(&f.archs, "arch", nil, "only this architecture: amd64 or arm64")
	fs.StringSliceVar(&f.zones, "zone", nil, "only what is offered in one of these zones")
	fs.StringVar(&f.capacityType, "capacity-type", "", "only what is offered so: on-demand or spot")
	fs.StringVar(&f.minCPU, "min-cpu", "", "at least so many vCPUs")
	fs.StringVar(&f.maxCPU, "max-cpu", "", "at most so many vCPUs")
	fs.StringVar(&f.minMemory, "min-memory", "", "at least so much memory as EC2 states it: 16Gi")
	fs.StringVar(&f.maxMemory, "max-memory", "", "at most so much memory")
	fs.Float64Var(&f.maxPrice, "max-price", 0, "only what can be had for at most so much an hour")
	fs.BoolVar(&f.gpu, "gpu", false, "only types with GPUs that pods can ask for")
	fs.StringArrayVarP(&f.labels, "label", "l", nil, "only types whose nodes can have this label: key=value")
}

// test is one thing asked of a type.
type test func(item) bool

// compile turns what was written into one test, or says what cannot be read.
func (f *filter) compile(names []string) (test, error) {
	var all []test
	add := func(t test) { all = append(all, t) }
	for _, n := range names {
		if _, err := path.Match(n, ""); err != nil {
			return nil, fmt.Errorf("name %q: %w", n, err)
		}
	}
	if len(names) > 0 {
		add(func(it item) bool {
			return slices.ContainsFunc(names, func(n string) bool { ok, _ := path.Match(n, it.Name); return ok })
		})
	}
	for _, a := range f.archs {
		if a != "amd64" && a != "arm64" {
			return nil, fmt.Errorf("--arch %q is neither amd64 nor arm64", a)
		}
	}
	among := func(values []string, of func(item) string) {
		if len(values) > 0 {
			add(func(it item) bool { return slices.Contains(values, of(it)) })
		}
	}
	among(f.families, func(it item) string { return it.Family })
	among(f.categories, func(it item) string { return it.Category })
	among(f.archs, func(it item) string { return it.Arch })
	if f.gpu {
		add(func(it item) bool { return gpus(it) > 0 })
	}
	bounds, err := f.bounds()
	if err != nil {
		return nil, err
	}
	wanted, err := f.wantedLabels()
	if err != nil {
		return nil, err
	}
	add(func(it item) bool { return it.shape.Labels.Compatible(wanted, nil) })
	offered, err := f.offered()
	if err != nil {
		return nil, err
	}
	all = append(append(all, bounds...), offered...)
	return func(it item) bool {
		return !slices.ContainsFunc(all, func(t test) bool { return !t(it) })
	}, nil
}

// bounds are the limits on size.
func (f *filter) bounds() ([]test, error) {
	cpus := func(it item) int64 { return int64(it.VCPUs) * amount.Unit }
	memory := func(it item) int64 { return it.MemoryMiB << 20 * amount.Unit }
	var out []test
	for _, b := range []struct {
		flag, said string
		of         func(item) int64
		least      bool
	}{
		{"--min-cpu", f.minCPU, cpus, true},
		{"--max-cpu", f.maxCPU, cpus, false},
		{"--min-memory", f.minMemory, memory, true},
		{"--max-memory", f.maxMemory, memory, false},
	} {
		if b.said == "" {
			continue
		}
		bound, err := amount.Parse(b.said)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.flag, err)
		}
		if bound < 0 {
			return nil, fmt.Errorf("%s is %s, want zero or more", b.flag, b.said)
		}
		out = append(out, func(it item) bool {
			if b.least {
				return b.of(it) >= bound
			}
			return b.of(it) <= bound
		})
	}
	return out, nil
}

func (f *filter) wantedLabels() (label.Set, error) {
	var set label.Set
	for _, l := range f.labels {
		key, value, ok := strings.Cut(l, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--label %q is not of the form key=value", l)
		}
		set = set.And(label.Is(key, value))
	}
	return set, nil
}

// offered asks for one offer that is in a zone, of a kind and at a price that was asked for.
func (f *filter) offered() ([]test, error) {
	if f.capacityType != "" && f.capacityType != label.OnDemand && f.capacityType != label.Spot {
		return nil, fmt.Errorf("--capacity-type %q is neither on-demand nor spot", f.capacityType)
	}
	if len(f.zones) == 0 && f.capacityType == "" && f.maxPrice == 0 {
		return nil, nil
	}
	most, ok := money.Of(f.maxPrice)
	if !ok {
		return nil, fmt.Errorf("--max-price is %v, want a price an hour from 0 to a million", f.maxPrice)
	}
	return []test{func(it item) bool {
		for _, o := range it.shape.Offers {
			if (len(f.zones) == 0 || slices.Contains(f.zones, o.Zone)) &&
				(f.capacityType == "" || o.CapacityType == f.capacityType) &&
				(most == 0 || o.Price <= most) {
				return true
			}
		}
		return false
	}}, nil
}

// gpus is how many GPUs pods can ask for.
func gpus(it item) int64 {
	var n int64
	for _, name := range []string{"nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi"} {
		n += it.shape.Capacity.Value(name) / amount.Unit
	}
	return n
}
