package drift_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/drift"
)

func TestReason(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		why    string
		change func(*drift.Seen)
		want   string
	}{
		"Fine": {"It is what the pool asks for.", func(*drift.Seen) {}, ""},
		"Template": {"The pool's template has changed.", func(s *drift.Seen) {
			s.Pool.Spec.Template.Labels = map[string]string{"team": "b"}
		}, v1.ReasonNodePoolDrifted},
		"OtherVersion": {"Another controller wrote the hash: it cannot be compared.", func(s *drift.Seen) {
			s.Claim.Annotations[v1.AnnotationPoolHash], s.Claim.Annotations[v1.AnnotationPoolHashVersion] = "1", "v3"
		}, ""},
		"Requirements": {"The pool wants another zone now.", func(s *drift.Seen) { s.World.Requirements = label.SetOf(label.Is(label.Zone, "b")) }, v1.ReasonRequirementsDrifted},
		"NodeLabels": {"What only the node says counts.", func(s *drift.Seen) {
			s.World.Requirements, s.Labels = label.SetOf(label.Is("team", "a")), map[string]string{"team": "a"}
		}, ""},
		"TypeLabels": {"A node from before the label was thought of is of the same type.", func(s *drift.Seen) {
			s.World.Requirements = label.SetOf(label.Is("example.com/family", "m"))
			s.Catalog.Shapes[0].Labels = label.SetOf(label.Is("example.com/family", "m"))
		}, ""},
		"NoHash": {"Nothing is known of what it was made from.", func(s *drift.Seen) { delete(s.Claim.Annotations, v1.AnnotationPoolHash) }, ""},
		"OwnLabel": {"What the node says of itself is not what its type says, nor is it written over.", func(s *drift.Seen) {
			s.World.Requirements, s.Labels = label.SetOf(label.Is("team", "a")), map[string]string{"team": "a"}
			s.Catalog.Shapes[0].Labels = label.SetOf(label.Is("team", "b"))
		}, ""},
		"Either": {"Its type has one of two values, and it is not known which.", func(s *drift.Seen) {
			s.World.Requirements = label.SetOf(label.Is("example.com/family", "m"))
			s.Catalog.Shapes[0].Labels = label.SetOf(label.Is("example.com/family", "m", "n"))
		}, v1.ReasonRequirementsDrifted},
		"Neither": {"That its type does not have a value is no value.", func(s *drift.Seen) {
			s.World.Requirements = label.SetOf(label.Is("example.com/family", "m"))
			s.Catalog.Shapes[0].Labels = label.SetOf(label.Requirement{Key: "example.com/family", Not: true, Values: []string{"m"}})
		}, v1.ReasonRequirementsDrifted},
		"OtherZone": {"The type is sold elsewhere only.", func(s *drift.Seen) { s.Catalog.Shapes[0].Offers[0].Zone = "b" }, v1.ReasonInstanceTypeNotFound},
		"OtherWay":  {"The type is sold in another way only.", func(s *drift.Seen) { s.Catalog.Shapes[0].Offers[0].CapacityType = label.Spot }, v1.ReasonInstanceTypeNotFound},
		"Reserved":  {"A reservation is of a type that is sold on demand.", func(s *drift.Seen) { s.Claim.Labels[label.CapacityType] = label.Reserved }, ""},
		"ReservedNoMore": {"On demand it is sold no more.", func(s *drift.Seen) {
			s.Claim.Labels[label.CapacityType] = label.Reserved
			s.Catalog.Shapes[0].Offers[0].CapacityType = label.Spot
		}, v1.ReasonInstanceTypeNotFound},
		"Settled": {"An hour is long enough for a catalogue.", func(s *drift.Seen) {
			s.Catalog.Shapes[0].Name = "other"
			s.Claim.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour))
		}, v1.ReasonInstanceTypeNotFound},
		"NotSold": {"The type is gone from the catalogue.", func(s *drift.Seen) { s.Catalog.Shapes[0].Name = "other" }, v1.ReasonInstanceTypeNotFound},
		"SoldOut": {"Sold out is not gone.", func(s *drift.Seen) { s.Catalog.Shapes[0].Offers[0].Gone = true }, ""},
		"Young": {"A catalogue may lag behind.", func(s *drift.Seen) {
			s.Catalog.Shapes[0].Name = "other"
			s.Claim.CreationTimestamp = metav1.NewTime(noon.Add(-59 * time.Minute))
		}, ""},
		"NoCatalog": {"Nothing is known of what is sold.", func(s *drift.Seen) { s.Catalog = nil }, ""},
		"NotYetKnown": {"Its type may have the label: that is not known yet.", func(s *drift.Seen) {
			s.Catalog, s.World.Requirements = nil, label.SetOf(label.Is("example.com/family", "m"))
		}, ""},
		"KnownAnyway": {"What it says itself needs no catalogue.", func(s *drift.Seen) {
			s.Catalog, s.World.Requirements = nil, label.SetOf(label.Is(label.Zone, "b"))
		}, v1.ReasonRequirementsDrifted},
		"NoPool": {"Its pool is gone; its claims go with it.", func(s *drift.Seen) { s.Pool, s.World = nil, nil }, ""},
	}
	tried := map[string]bool{}
	for name, tc := range tests {
		tried[tc.want] = true
		t.Run(name, func(t *testing.T) {
			p := &v1.NodePool{Spec: v1.NodePoolSpec{Template: v1.NodeClaimTemplate{ObjectMeta: v1.ObjectMeta{Labels: map[string]string{"team": "a"}}}}}
			s := drift.Seen{
				Now: noon, Pool: p, World: &world.Pool{Requirements: label.SetOf(label.Is(label.Zone, "a", "b"))},
				Claim: &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
					CreationTimestamp: metav1.NewTime(noon.Add(-2 * time.Hour)),
					Labels:            map[string]string{label.Zone: "a", label.InstanceType: "m5", label.CapacityType: label.OnDemand},
					Annotations:       map[string]string{v1.AnnotationPoolHash: p.Hash(), v1.AnnotationPoolHashVersion: v1.HashVersion},
				}},
				Catalog: &world.Catalog{Shapes: []world.Shape{{Name: "m5", Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand}}}}},
			}
			tc.change(&s)
			if got := drift.Reason(s); got != tc.want {
				t.Errorf("%q, want %q: %s", got, tc.want, tc.why)
			}
		})
	}
	for _, reason := range drift.Reasons() {
		if !tried[reason] {
			t.Errorf("no case is for %s", reason)
		}
	}
}

// What objects say they also take back; what the driver said only the driver takes back, and nothing does while it is not known what is sold.
func TestOver(t *testing.T) {
	was := func(reason string) *metav1.Condition { return &metav1.Condition{Reason: reason} }
	for _, reason := range drift.Reasons() {
		if !drift.Over(was(reason), drift.Known{Sold: true}) {
			t.Errorf("a claim that was %s and no longer is stays drifted as long as the driver says nothing", reason)
		}
		if drift.Over(was(reason), drift.Known{Machine: true}) {
			t.Errorf("a claim that was %s is so no longer, though it is not known what is sold", reason)
		}
	}
	for _, machine := range []bool{false, true} {
		if got := drift.Over(was("AMIDrift"), drift.Known{Sold: true, Machine: machine}); got != machine {
			t.Errorf("what the driver found is over: %t, and it has looked again: %t", got, machine)
		}
	}
	if drift.Over(nil, drift.Known{Sold: true, Machine: true}) {
		t.Error("what was not drifted is over")
	}
}
