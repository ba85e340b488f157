package enact

import (
	"fmt"
	"testing"
)

// Why a claim was deleted is known for many claims, and not for ever more.
func TestWhyDeleted(t *testing.T) {
	e := &Enactor{}
	if got := e.WhyDeleted("c"); got != "" {
		t.Errorf("nothing was deleted, and it says %q", got)
	}
	e.deletions.note("c", Collected)
	if got, want := e.WhyDeleted("c"), "its machine is gone: it died, or was ended by another client"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	for i := range remembered {
		e.deletions.note(fmt.Sprint("c-", i), "spot_interrupted")
	}
	if got := e.WhyDeleted("c"); got != "" || len(e.deletions.why) != remembered || len(e.deletions.oldest) != remembered {
		t.Errorf("%d are remembered, the first as %q", len(e.deletions.why), got)
	}
	if got := e.WhyDeleted("c-0"); got != "spot interrupted" {
		t.Errorf("says %q", got)
	}
}
