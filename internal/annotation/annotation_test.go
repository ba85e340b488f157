package annotation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
)

// What is written is what is read.
func TestThereAndBack(t *testing.T) {
	pods := []world.Key{{Namespace: "d", Name: "a"}, {Namespace: "e", Name: "b.c-0"}}
	if diff := cmp.Diff(pods, annotation.PodsOf(annotation.PodsText(pods))); diff != "" {
		t.Errorf("pods: -written +read\n%s", diff)
	}
	moves := []world.Move{{To: "ip-10-0-0-1.ec2.internal", Pods: pods}, {To: "n2", Pods: pods[:1]}}
	if diff := cmp.Diff(moves, annotation.MovesOf(annotation.MovesText(moves))); diff != "" {
		t.Errorf("moves: -written +read\n%s", diff)
	}
	names := []string{"p-abcde", "p-fghij"}
	if diff := cmp.Diff(names, annotation.NamesOf(annotation.NamesText(names))); diff != "" {
		t.Errorf("names: -written +read\n%s", diff)
	}
	booked := amount.Of(amount.Entry{Name: amount.CPU, Value: 1500}, amount.Entry{Name: amount.Memory, Value: amount.Unit << 30})
	if diff := cmp.Diff(booked, annotation.BookedOf(annotation.BookedText(booked))); diff != "" {
		t.Errorf("booked: -written +read\n%s", diff)
	}
}

// What somebody else has written there says nothing, or as much as can be read of it.
func TestWhatCannotBeRead(t *testing.T) {
	if got := annotation.PodsOf("a b/c d"); !cmp.Equal(got, []world.Key{{Namespace: "b", Name: "c"}}) {
		t.Errorf("read %v", got)
	}
	if got := annotation.MovesOf("n1 n2= =d/a n3=x,d/b"); !cmp.Equal(got, []world.Move{{To: "n3", Pods: []world.Key{{Namespace: "d", Name: "b"}}}}) {
		t.Errorf("read %v", got)
	}
	for _, text := range []string{"", "x", `{"cpu":"one"}`} {
		if got := annotation.BookedOf(text); got != nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
