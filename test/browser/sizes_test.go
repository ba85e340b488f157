package browser

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// pages are the pages there are.
var pages = []string{"cluster", "pods", "decisions", "pools", "whatif"}

// Every page can be read at every size of cluster and window: nothing is wider than the window, nothing is cut
// off, numbers and nouns agree.
func TestEverySize(t *testing.T) {
	for _, size := range []struct {
		nodes, pods int
	}{{0, 0}, {1, 1}, {20, 20}, {2000, 300}} {
		t.Run(fmt.Sprint(size.nodes), func(t *testing.T) {
			w := enginetest.Steady(size.nodes, size.pods)
			if size.nodes == 0 {
				w = world.NewBuilder().Snapshot(1)
			}
			c := serve(t, w)
			c.history.Sample()
			if size.nodes >= 20 {
				c.edit(func(b *world.Builder) error {
					return b.SetPod(world.Pod{
						Key: world.Key{Namespace: "machine-learning-experiments", Name: "a-name-that-is-as-long-as-people-make-them-7d9f8b6c5d-x2x4z"}, Waiting: true, NodeSelector: label.SetOf(label.Is("example.com/accelerator", "t4")),
						Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 1 << 30}),
					})
				})
			}
			c.decide()
			r := open(t, c.URL, 1800, 1000)
			r.live()
			for _, width := range []int64{400, 1000, 1800} {
				r.do(chromedp.EmulateViewport(width, 1000))
				for _, page := range pages {
					r.do(chromedp.Navigate(c.URL + "/#" + page))
					r.live()
					r.until(`document.querySelector('main').innerText.trim() !== '' && !document.querySelector('main').innerText.includes('Connecting')`)
					for _, scheme := range []string{"light", "dark"} {
						r.scheme(scheme)
						r.shot(fmt.Sprintf("%s-%d-%s", page, width, scheme))
					}
					switch {
					case page != "cluster":
					case size.nodes == 0:
						r.until(`document.querySelector('.hello').hidden === false && document.querySelector('.tools').hidden && document.querySelector('.map').hidden`)
					default:
						r.until(fmt.Sprintf(`document.querySelectorAll('.totals b')[2].innerText === '%s'`, shown[size.nodes]))
						r.until(`document.querySelectorAll('.u-legend .u-value').length > 0 && [...document.querySelectorAll('.u-legend .u-series:not(:first-child) .u-value')].every((v) => /[0-9]/.test(v.innerText))`)
						r.until(evenly(".totals .card") + " && " + evenly(".plots figure"))
					}
					if wide := of[int64](r, `document.documentElement.scrollWidth`); wide > width {
						t.Errorf("%s is %d pixels wide in a window of %d", page, wide, width)
					}
					if wrong := of[[]string](r, `document.body.innerText.match(/(^|[^\d.,])1 (nodes|pods|decisions|types|claims|pools|errors|machines|zones|are)\b/g) || []`); len(wrong) > 0 {
						t.Errorf("%s says %q", page, wrong)
					}
				}
			}
		})
	}
}

// shown are numbers of nodes as a page writes them.
var shown = map[int]string{1: "1", 20: "20", 2000: "2,000"}

// evenly is true of elements that stand in rows of the same length.
func evenly(selector string) string {
	return fmt.Sprintf(`((all) => new Set(Object.values(Object.groupBy(all, (e) => e.getBoundingClientRect().top)).map((row) => row.length)).size === 1)([...document.querySelectorAll('%s')])`, selector)
}

// scheme has the reader prefer light or dark pages.
func (r *reader) scheme(name string) {
	r.t.Helper()
	r.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return err
	}))
}
