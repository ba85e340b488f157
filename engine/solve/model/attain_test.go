package model

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// What sums of needs cannot fill is no room.
func TestAttainable(t *testing.T) {
	tests := map[string]struct {
		why        string
		needs      []int64
		room, want int64
	}{
		"Half":    {why: "Half a core is of no use to items of whole cores.", needs: []int64{1000, 2000}, room: 7760, want: 7000},
		"Sum":     {why: "One of each fits, and no sum is closer.", needs: []int64{4000, 6000, 0}, room: 11_900, want: 10_000},
		"All":     {why: "Small items fill what large ones leave.", needs: []int64{100, 1500}, room: 1990, want: 1900},
		"Tight":   {why: "What is filled to the brim stays as it is.", needs: []int64{7}, room: 21, want: 21},
		"Far":     {why: "Beyond the table only what divides all needs counts.", needs: []int64{4, 6}, room: 1_000_001, want: 1_000_000},
		"Without": {why: "Nothing is known of a dimension that no item needs.", needs: []int64{0}, room: 5, want: 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var p problem.Problem
			for _, n := range tt.needs {
				p.Items = append(p.Items, problem.Item{Count: 1, Need: []int64{n}})
			}
			s := newSums(p, 0)
			if got := s.attainable(tt.room); got != tt.want {
				t.Errorf("of %d %d can be filled, want %d. %s", tt.room, got, tt.want, tt.why)
			}
		})
	}
}
