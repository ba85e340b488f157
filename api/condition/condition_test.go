package condition_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/condition"
)

func TestRootFollowsItsParts(t *testing.T) {
	born := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := born.Add(time.Minute)
	tests := map[string]struct {
		why     string
		do      func(condition.View, *metav1.ObjectMeta)
		status  metav1.ConditionStatus
		reason  string
		message string
	}{
		"Nothing": {
			why:    "What has not been looked at is unknown, not ready and not broken.",
			do:     func(condition.View, *metav1.ObjectMeta) {},
			status: metav1.ConditionUnknown, reason: condition.ReconcilingDependents, message: "A=Unknown, B=Unknown",
		},
		"AllTrue": {
			why:    "All parts True make the root True, with its own name as the reason.",
			do:     func(v condition.View, _ *metav1.ObjectMeta) { v.True("A", "", "", now); v.True("B", "", "", now) },
			status: metav1.ConditionTrue, reason: condition.Ready,
		},
		"OneFalse": {
			why: "One False part decides, whatever the others say.",
			do: func(v condition.View, _ *metav1.ObjectMeta) {
				v.False("A", "Broken", "why", now)
			},
			status: metav1.ConditionFalse, reason: condition.UnhealthyDependents, message: "A=False, B=Unknown",
		},
		"OldFalse": {
			why: "A part judged at an older generation says nothing of this one.",
			do: func(v condition.View, m *metav1.ObjectMeta) {
				v.False("A", "Broken", "why", now)
				m.Generation = 2
				v.True("B", "", "", now)
			},
			status: metav1.ConditionUnknown, reason: condition.ReconcilingDependents, message: "A=False",
		},
		"OldTrue": {
			why: "A True of an older generation is not enough either.",
			do: func(v condition.View, m *metav1.ObjectMeta) {
				v.True("A", "", "", now)
				m.Generation = 2
				v.True("B", "", "", now)
			},
			status: metav1.ConditionUnknown, reason: condition.ReconcilingDependents, message: "A=True",
		},
		"Unsaid": {
			why: "Karpenter's first releases did not say which generation they judged.",
			do: func(v condition.View, m *metav1.ObjectMeta) {
				m.Generation = 0
				v.True("A", "", "", now)
				m.Generation = 1
				v.True("B", "", "", now)
			},
			status: metav1.ConditionTrue, reason: condition.Ready,
		},
		"OtherFalse": {
			why: "A condition that is no part does not touch the root.",
			do: func(v condition.View, _ *metav1.ObjectMeta) {
				v.True("A", "", "", now)
				v.True("B", "", "", now)
				v.False("C", "Broken", "", now)
			},
			status: metav1.ConditionTrue, reason: condition.Ready,
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			meta := &metav1.ObjectMeta{Generation: 1, CreationTimestamp: metav1.NewTime(born)}
			var list []metav1.Condition
			v := condition.Of(meta, &list, "A", "B")
			v.Init(now)
			c.do(v, meta)
			root := v.Get(condition.Ready)
			got := []any{root.Status, root.Reason, root.Message, root.ObservedGeneration}
			if diff := cmp.Diff([]any{c.status, c.reason, c.message, meta.Generation}, got); diff != "" {
				t.Errorf("%s -want +got\n%s", c.why, diff)
			}
		})
	}
}

func TestTimesMoveWithTheStatusOnly(t *testing.T) {
	born := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	meta := &metav1.ObjectMeta{Generation: 1, CreationTimestamp: metav1.NewTime(born)}
	var list []metav1.Condition
	v := condition.Of(meta, &list, "A")

	if !v.Init(born.Add(time.Hour)) {
		t.Error("Init of an empty list changed nothing")
	}
	if v.Init(born.Add(2 * time.Hour)) {
		t.Error("Init twice changed something")
	}
	if at := v.Get("A").LastTransitionTime.Time; !at.Equal(born) {
		t.Errorf("a missing part is unknown since %s, want since the object was created, %s", at, born)
	}
	v.Unknown("A", "StillLooking", "", born.Add(3*time.Hour))
	if at := v.Get("A").LastTransitionTime.Time; !at.Equal(born) {
		t.Errorf("a new reason moved the time to %s", at)
	}
	later := born.Add(4 * time.Hour)
	v.True("A", "", "", later)
	if at := v.Get(condition.Ready).LastTransitionTime.Time; !at.Equal(later) {
		t.Errorf("the root became True at %s, want %s", at, later)
	}
	if v.True("A", "", "", later.Add(time.Hour)) {
		t.Error("setting what is set reported a change")
	}
}

func TestOrderIsByTimeWithTheRootLast(t *testing.T) {
	born := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	meta := &metav1.ObjectMeta{Generation: 1, CreationTimestamp: metav1.NewTime(born)}
	var list []metav1.Condition
	v := condition.Of(meta, &list, "A", "B")
	v.True("B", "", "", born.Add(2*time.Hour))
	v.True("C", "", "", born.Add(time.Hour))
	v.True("A", "", "", born.Add(3*time.Hour))
	var got []string
	for _, c := range list {
		got = append(got, c.Type)
	}
	if diff := cmp.Diff([]string{"C", "B", "A", "Ready"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !v.Clear("C", born) || v.Get("C") != nil || v.Clear("C", born) {
		t.Error("a condition that is no part can be cleared, once")
	}
}

func TestAPartCannotBeCleared(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a part was cleared, so the root would never be True")
		}
	}()
	var list []metav1.Condition
	condition.Of(&metav1.ObjectMeta{}, &list, "A").Clear("A", time.Unix(0, 0))
}

// A new generation that is judged at once changes nothing of what Ready says.
func TestTogether(t *testing.T) {
	born := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		second metav1.ConditionStatus
		moves  bool
	}{"Same": {metav1.ConditionTrue, false}, "Other": {metav1.ConditionFalse, true}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m, list := &metav1.ObjectMeta{Generation: 1}, []metav1.Condition{}
			v := condition.Of(m, &list, "A", "B")
			judge := func(b metav1.ConditionStatus, now time.Time) {
				v.Together(func() {
					v.True("A", "", "", now)
					if b == metav1.ConditionTrue {
						v.True("B", "", "", now)
					} else {
						v.False("B", "Broken", "", now)
					}
				})
			}
			judge(metav1.ConditionTrue, born)
			m.Generation = 2
			judge(tc.second, born.Add(time.Minute))
			r := v.Get(condition.Ready)
			if moved := !r.LastTransitionTime.Time.Equal(born); moved != tc.moves || r.ObservedGeneration != 2 || r.Status != tc.second {
				t.Errorf("Ready is %+v, want its time to move: %t", r, tc.moves)
			}
		})
	}
}
