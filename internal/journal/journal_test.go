package journal_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

func TestTheOldestMakesRoom(t *testing.T) {
	j := journal.New(2, "v1", nil)
	var digests []string
	for at := range int64(3) {
		w := world.NewBuilder().Snapshot(at)
		digests = append(digests, w.Digest())
		j.Add(journal.Entry{Kind: "provision", World: w})
		j.Add(journal.Entry{Kind: "provision", World: w})
	}
	if _, ok := j.Find(digests[0]); ok {
		t.Error("the oldest of three is kept by a journal of two")
	}
	for _, d := range digests[1:] {
		if _, ok := j.Find(d); !ok {
			t.Errorf("entry %s is not kept", d)
		}
	}
	if last, ok := j.Last("provision"); !ok || last.World.Digest() != digests[2] {
		t.Error("the last entry is not the last")
	}
	if n := len(j.All()); n != 2 {
		t.Errorf("%d entries, want 2: a repeated decision is kept once", n)
	}
}
