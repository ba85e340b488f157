package cloud_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// fakeDriver is a driver whose class may be unusable.
type fakeDriver struct {
	cloud.Driver
	err error
}

func (s *fakeDriver) Catalog(context.Context, cloud.Template) (world.Catalog, error) {
	return world.Catalog{Version: "1"}, s.err
}

// A class that becomes unusable sells nothing, and sells again when it is mended.
// A cloud that only does not answer leaves things as they were.
func TestUnusableClassIsWithdrawn(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var log []string
	s := &fakeDriver{}
	c := cloud.New(cloud.Config{
		Driver: s, Now: func() time.Time { return now }, Attempts: 1,
		Publish:  func(w world.Catalog) { log = append(log, "published "+string(w.Template)) },
		Withdraw: func(id world.TemplateID, why string) { log = append(log, "withdrawn "+string(id)+": "+why) },
	})
	c.Want(cloud.Template{ID: "t"})
	for _, err := range []error{
		cloud.Errorf(cloud.NotReady, "SubnetsNotFound", "no subnet"),
		nil,
		cloud.Errorf(cloud.NotReady, "AMINotFound", "no image"),
		cloud.Errorf(cloud.NotReady, "AMINotFound", "no image"),
		nil,
		cloud.Errorf(cloud.Invalid, "X", "no answer"),
	} {
		s.err = err
		c.Refresh(t.Context())
		now = now.Add(time.Hour)
	}
	if diff := cmp.Diff([]string{"withdrawn t: no subnet", "published t", "withdrawn t: no image", "published t"}, log); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
