package aws_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// heap is how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what had finalizers goes at the second
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Classes come, are edited and go. What the driver keeps of them goes with them,
// and while they are there they share what they have in common.
func TestClassesComeAndGo(t *testing.T) {
	const classes, megabyte = 200, 1 << 20
	tests := map[string]struct {
		why     string
		edit    func(c *nodeclass.Class, n int)
		atOnce  int64 // most that all classes hold while they are there
		settled int64 // most that is left when they are gone
	}{
		"Tags": {
			why:    "Tags do not decide what a node offers: all sell the same.",
			edit:   func(c *nodeclass.Class, n int) { c.Tags = map[string]string{"team": fmt.Sprint(n)} },
			atOnce: 4 * megabyte, settled: 2 * megabyte,
		},
		"Disks": {
			why: "Capacity differs from class to class; labels and offers do not.",
			edit: func(c *nodeclass.Class, n int) {
				c.Disks = []nodeclass.Disk{{Device: "/dev/xvda", Root: true, SizeGiB: int64(20 + n)}}
			},
			atOnce: 30 * megabyte, settled: 2 * megabyte,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			credentials(t)
			synctest.Test(t, func(t *testing.T) {
				spec := 0
				w := &virtual{t: t, sold: strings.Fields("c5 c6g c6i c7g m5 m5a m6g m6i r5 r6g"), change: func(c *nodeclass.Class) {
					c.Hash = fmt.Sprint(spec)
					tc.edit(c, spec)
				}}
				d := w.start()
				sold := map[world.TemplateID]world.Catalog{}
				c := cloud.New(cloud.Config{
					Driver: d, Now: time.Now,
					Publish:  func(got world.Catalog) { sold[got.Template] = got },
					Withdraw: func(id world.TemplateID, _ string) { delete(sold, id) },
				})
				template := func(n int) cloud.Template {
					ref := templateOf().Class
					ref.Name = fmt.Sprintf("class-%d", n)
					return cloud.Template{ID: world.TemplateID(ref.Name), Class: ref}
				}
				live := func(n, as int) { // one class is made, or edited
					spec = as
					c.Want(template(n))
					c.Renew(template(n).ID)
					c.Refresh(t.Context())
					if n%40 > 0 {
						return // the simulated account remembers what was asked of it
					}
					if _, err := d.Inspect(context.Background(), template(n).Class); err != nil {
						t.Fatal(err)
					}
				}
				live(0, 0)
				if n := len(sold[template(0).ID].Shapes); n < 80 {
					t.Fatalf("%d shapes are on sale: too few to say anything", n)
				}
				before := heap()
				for n := range classes {
					live(n, n)
					live(n, n+classes)
				}
				if grown := heap() - before; grown > tc.atOnce {
					t.Errorf("%s %d classes hold %.1f MB more than one, want %.1f at most", tc.why, classes, float64(grown)/megabyte, float64(tc.atOnce)/megabyte)
				}
				for n := 1; n < classes; n++ {
					c.Drop(template(n).ID)
					delete(sold, template(n).ID)
				}
				if grown := heap() - before; grown > tc.settled {
					t.Errorf("%s %.1f MB are held when all but one of %d classes are gone, want %.1f at most", tc.why, float64(grown)/megabyte, classes, float64(tc.settled)/megabyte)
				}
				runtime.KeepAlive(d)
			})
		})
	}
}
