package app

import (
	"os"
	"testing"
)

// A replica holds the Lease by its pod's name, also where the pod has no hostname of its own.
func TestAReplicaIsNamedByItsPod(t *testing.T) {
	t.Setenv("HOSTNAME", "karpenter-7d9f-abcde")
	if name, err := replica(); name != "karpenter-7d9f-abcde" || err != nil {
		t.Errorf("it is called %q: %v", name, err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("HOSTNAME", "")
	if name, err := replica(); name != host || err != nil {
		t.Errorf("without a word of the container it is called %q: %v, want %q", name, err, host)
	}
}
