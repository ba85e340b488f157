package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/world"
)

// A restart reads from a claim what it was asked for.
func TestPodsOfClaim(t *testing.T) {
	pods := []world.Key{{Namespace: "default", Name: "web-0"}, {Namespace: "shop", Name: "db"}}
	if diff := cmp.Diff(pods, podsOf(PodsText(pods))); diff != "" {
		t.Errorf("-written +read\n%s", diff)
	}
	if got := podsOf("a b/c d"); !cmp.Equal(got, []world.Key{{Namespace: "b", Name: "c"}}) {
		t.Errorf("what is no name of a pod was read as %v", got)
	}
}
