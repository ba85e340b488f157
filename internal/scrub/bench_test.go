package scrub

import (
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/world"
)

// BenchmarkWorld renames a cluster of 22,000 pods in 100 namespaces.
func BenchmarkWorld(b *testing.B) {
	made := world.NewBuilder()
	for i := range 22_000 {
		err := made.SetPod(world.Pod{
			Key: world.Key{Namespace: fmt.Sprint("team-", i%100), Name: fmt.Sprint("web-", i)}, UID: fmt.Sprint("uid-", i),
			Labels: map[string]string{"app": fmt.Sprint("web-", i%500), "pod-template-hash": fmt.Sprint(i % 700)}, Node: fmt.Sprint("n", i%2000),
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	w := made.Snapshot(1)
	for b.Loop() {
		if _, err := (&Names{Shown: func(n string) bool { return n == "team-1" }}).World(w); err != nil {
			b.Fatal(err)
		}
	}
}
