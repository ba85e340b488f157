package app

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// A class is read from the API server until the controller's cache follows it, and then only where the cache does not have it: it may have
// just been made. One that is nowhere is missing.
func TestClassesComeFromTheCache(t *testing.T) {
	known, err := awsScheme()
	if err != nil {
		t.Fatal(err)
	}
	reader := func(names ...string) client.Reader {
		b := fake.NewClientBuilder().WithScheme(known)
		for _, n := range names {
			b.WithObjects(&awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: n}})
		}
		return b.Build()
	}
	cached := &ClassCache{}
	live := &countedReads{Reader: reader("old", "new")}
	find := classes(cached.over(live), AWS{})
	for _, step := range []struct {
		follow bool // from here on
		name   string
		gone   bool
		reads  int // of the API server, so far
	}{
		{name: "old", reads: 1},
		{name: "old", reads: 2},
		{follow: true, name: "old", reads: 2},
		{name: "new", reads: 3},
		{name: "none", gone: true, reads: 4},
	} {
		if step.follow {
			cached.follow(reader("old"))
		}
		_, err := find(t.Context(), cloud.ClassRef{Group: awsv1.Group, Kind: "EC2NodeClass", Name: step.name})
		if step.gone != (cloud.CodeOf(err) == cloud.NotReady) || !step.gone && err != nil {
			t.Errorf("class %s: %v", step.name, err)
		}
		if live.reads != step.reads {
			t.Errorf("class %s: %d reads of the API server, want %d", step.name, live.reads, step.reads)
		}
	}
}

type countedReads struct {
	client.Reader
	reads int
}

func (c *countedReads) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	c.reads++
	return c.Reader.Get(ctx, key, o, opts...)
}
