package world_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

func TestExotic(t *testing.T) {
	size := func(s string) label.Set { return label.SetOf(label.Is("karpenter.k8s.aws/instance-size", s)) }
	for name, tc := range map[string]struct {
		why   string
		shape world.Shape
		want  bool
	}{
		"Plain":     {"Nothing makes it dear.", world.Shape{Labels: size("xlarge"), Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: 4})}, false},
		"Metal":     {"It takes long to start and no pod asked for it.", world.Shape{Labels: size("metal")}, true},
		"MetalSize": {"Some sizes of bare metal have a number.", world.Shape{Labels: size("metal-24xl")}, true},
		"NoMetal":   {"All but bare metal is none.", world.Shape{Labels: label.Set{{Key: "karpenter.k8s.aws/instance-size", Not: true, Values: []string{"metal"}}}}, false},
		"OtherKey":  {"A label of another meaning says nothing.", world.Shape{Labels: label.SetOf(label.Is("example.com/floor", "metal"))}, false},
		"GPU":       {"It is there for what needs a GPU.", world.Shape{Capacity: amount.Of(amount.Entry{Name: "nvidia.com/gpu", Value: 1})}, true},
		"NoGPU":     {"Karpenter goes by capacity, and there is none.", world.Shape{Capacity: amount.Of(amount.Entry{Name: "nvidia.com/gpu"})}, false},
		"EFA":       {"A fast network is no accelerator.", world.Shape{Capacity: amount.Of(amount.Entry{Name: "vpc.amazonaws.com/efa", Value: 1})}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.shape.Exotic(); got != tc.want {
				t.Errorf("%s: exotic is %t, want %t", tc.why, got, tc.want)
			}
		})
	}
}
