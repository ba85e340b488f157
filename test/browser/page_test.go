package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// A cluster grows and shrinks before a reader's eyes without loading the page again.
func TestGrowsAndShrinks(t *testing.T) {
	c := serve(t, large(12))
	c.decide()
	r := open(t, c.URL, 1400, 1000)
	r.live()
	r.nodes("12")
	r.until(`document.querySelector('.cards').innerText.includes('20')`)
	r.shot("before")
	c.edit(func(b *world.Builder) error {
		return b.SetClaim(world.Claim{
			Name: "general-new", Pool: world.PoolID{Kind: world.NodePool, Name: "general"}, Created: 1,
			Labels: map[string]string{label.InstanceType: "m5.8", label.Zone: "a", label.CapacityType: label.Spot}, Booked: amount.Of(amount.Entry{Name: amount.CPU, Value: 8000}),
		})
	})
	r.nodes("13")
	r.until(`document.querySelector('.cards').innerText.includes('1 on the way')`)
	r.shot("coming")
	c.edit(func(b *world.Builder) error {
		b.DeleteClaim("general-new")
		b.DeleteNode("node-00003")
		return nil
	})
	r.nodes("11")
	r.click(".tools button")
	r.until(`document.querySelectorAll('.rows .row').length === 11 && !document.querySelector('.rows').innerText.includes('node-00003')`)
	r.shot("table")
}

// Everything can be asked without a mouse: why a node is there, and what if it went.
func TestAskedByKeyboard(t *testing.T) {
	c := serve(t, large(12))
	c.decide()
	r := open(t, c.URL, 1400, 1000)
	r.live()
	r.nodes("12")
	r.do(chromedp.Focus(chromedp.CSS(".map canvas")))
	r.press(kb.ArrowRight)
	r.press(kb.ArrowRight)
	r.until(`document.querySelector('.map [aria-live]').textContent.startsWith('node-')`)
	r.press(kb.Enter)
	r.until(`document.querySelector('.drawer .answer')?.textContent.includes('m5.8')`)
	for range 3 { // the button that closes, the text, the question
		r.press(kb.Tab)
	}
	r.press(kb.Enter)
	r.until(`document.querySelector('.drawer .verdict') !== null`)
	r.shot("what-if")
	r.press(kb.Escape)
	r.until(`document.querySelector('.drawer').hidden && document.activeElement.tagName === 'CANVAS'`)
	r.press("2")
	r.until(`location.hash === '#pods' && document.querySelectorAll('details.card').length > 0`)
	r.shot("pods")
}

// What a decision says is read on the page, and the cluster as it was is seen.
func TestLooksBack(t *testing.T) {
	c := serve(t, large(12))
	c.decide()
	r := open(t, c.URL+"/#decisions", 1400, 1000)
	r.live()
	r.until(`document.querySelectorAll('.timeline .decision').length === 1`)
	c.edit(func(b *world.Builder) error {
		for i := range 8 {
			b.DeleteNode(fmt.Sprintf("node-%05d", i))
		}
		return nil
	})
	r.click(".timeline .decision")
	r.until(`document.querySelector('.drawer .answer')?.textContent.includes('20 pods waiting')`)
	r.shot("decision")
	r.press(kb.Escape)
	r.until(`!document.querySelector('.banner').hidden`)
	r.press("1")
	r.nodes("12")
	r.shot("past")
	r.click(".banner button")
	r.nodes("4")
}

// A page whose controller is away says so, and goes on when it is back.
func TestControllerRestarts(t *testing.T) {
	c := serve(t, large(3))
	r := open(t, c.URL, 1000, 800)
	r.live()
	c.stop()
	r.until(`document.querySelector('.link-state.lost') !== null && document.body.classList.contains('stale')`)
	r.shot("lost")
	c.edit(func(b *world.Builder) error {
		b.DeleteNode("node-00001")
		return nil
	})
	c.again()
	r.live()
	r.nodes("2")
}

// A page at a replica that does not decide says which one does, until it decides itself.
func TestAnotherReplicaDecides(t *testing.T) {
	c := serve(t, large(3))
	c.leader = "karpenter/karpenter-1"
	r := open(t, c.URL, 1000, 800)
	r.until(`document.querySelector(".banner:not([hidden])")?.textContent.includes("kubectl port-forward -n karpenter pod/karpenter-1 8080")`)
	c.mu.Lock()
	c.leader = ""
	c.mu.Unlock()
	r.until(`!document.querySelector(".banner:not([hidden])")`)
}

// Until a page has been told of the cluster it says nothing of it, and then all that there is.
func TestNothingIsSaidBeforeItIsKnown(t *testing.T) {
	c := serve(t, large(3))
	c.decide()
	to, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	pass, told := httputil.NewSingleHostReverseProxy(to), make(chan struct{})
	pass.FlushInterval = -1
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/live" {
			select {
			case <-told:
			case <-r.Context().Done():
				return
			}
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.CloseClientConnections)
	r := open(t, slow.URL+"/#pools", 1000, 800)
	for _, page := range []string{"pools", "pods", "cluster"} {
		r.do(chromedp.Navigate(slow.URL + "/#" + page))
		r.until(`document.querySelector('main').innerText.trim() === 'Connecting to the controller …'`)
	}
	close(told)
	r.live()
	r.nodes("3")
	r.do(chromedp.Navigate(slow.URL + "/#pools"))
	r.until(`document.querySelector('tbody').innerText.includes('general')`)
}

// Names and reasons are text, whatever they hold.
func TestHostileNames(t *testing.T) {
	c := serve(t, large(1))
	const evil = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`
	c.edit(func(b *world.Builder) error {
		if err := b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: evil}, Waiting: true, Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 1 << 40})}); err != nil {
			return err
		}
		return b.SetNode(world.Node{Name: evil, Ready: true, Labels: map[string]string{label.Zone: evil, label.InstanceType: evil, label.CapacityType: evil}})
	})
	c.decide()
	r := open(t, c.URL, 1400, 1000)
	r.live()
	for _, page := range []string{"cluster", "pods", "decisions", "pools", "whatif"} {
		r.do(chromedp.Navigate(c.URL + "/#" + page))
		r.live()
		if page == "pods" {
			r.until(`document.body.innerText.includes('<img src=x')`)
		}
		if of[bool](r, `window.pwned !== undefined || [...document.images].some((i) => i.getAttribute('src') === 'x')`) {
			t.Errorf("page %q runs what a name holds", page)
		}
	}
}

// The page needs nothing from elsewhere, and fits a phone.
func TestNothingFromElsewhere(t *testing.T) {
	c := serve(t, large(2))
	c.decide()
	r := open(t, c.URL, 400, 800)
	r.do(chromedp.EmulateViewport(400, 800))
	r.live()
	r.shot("phone")
	for _, name := range of[[]string](r, `performance.getEntriesByType('resource').map((e) => e.name)`) {
		if !strings.HasPrefix(name, c.URL) {
			t.Errorf("the page loads %s", name)
		}
	}
	if wide := of[int](r, `document.documentElement.scrollWidth`); wide > 400 {
		t.Errorf("on a phone the page is %d pixels wide", wide)
	}
}

// Five thousand nodes with 150,000 pods are one page, of bounded memory, and every change is seen, also while pods on a hundred nodes change in a second.
func TestManyNodes(t *testing.T) {
	const nodes, pods, changing = 5000, 30, 100
	c := serve(t, large(nodes))
	pod := func(node, i int) world.Pod {
		return world.Pod{
			Key: world.Key{Namespace: "more", Name: fmt.Sprintf("more-%d-%d", node, i)}, Node: fmt.Sprintf("node-%05d", node),
			Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 10}, amount.Entry{Name: amount.Pods, Value: amount.Unit}),
		}
	}
	c.edit(func(b *world.Builder) (err error) {
		for node := range nodes {
			for i := 16; i < pods && err == nil; i++ { // there are sixteen
				err = b.SetPod(pod(node, i))
			}
		}
		return err
	})
	c.decide()
	r := open(t, c.URL, 1600, 1000)
	r.live()
	r.nodes("5,000")
	r.shot("map")
	c.edit(func(b *world.Builder) error {
		b.DeleteNode("node-00042")
		return nil
	})
	r.nodes("4,999")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for at := changing; ; at = (at + changing) % nodes {
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
			}
			c.edit(func(b *world.Builder) (err error) {
				for node := at; node < at+changing && err == nil; node++ {
					b.DeletePod(pod(node, 16).Key)
					err = b.SetPod(pod(node, pods+at))
				}
				return err
			})
		}
	}()
	// A frame is drawn for every step of a scroll; the figure is for people, since machines differ.
	took := of[float64](r, `new Promise((done) => {
		const map = document.querySelector('.map'); let frames = 0; const began = performance.now();
		const step = () => { map.scrollTop = (map.scrollTop + 37) % Math.max(1, map.scrollHeight); if (++frames < 300) requestAnimationFrame(step); else done((performance.now() - began) / frames); };
		step(); })`)
	close(stop)
	<-stopped
	t.Logf("a frame of a scroll took %.1f ms", took)
	if heap := of[float64](r, `performance.memory.usedJSHeapSize / 1048576`); heap > 100 {
		t.Errorf("the page holds %.0f MiB", heap)
	} else {
		t.Logf("the page holds %.0f MiB", heap)
	}
}

// Plots that are made again, here for another currency, are as wide as what they stand in.
func TestPlotsFit(t *testing.T) {
	c := serve(t, large(3))
	c.history.Sample()
	r := open(t, c.URL, 1400, 1000)
	r.live()
	r.until(`document.querySelectorAll('.uplot').length === 4`)
	c.edit(func(b *world.Builder) error {
		market := enginetest.Market()
		market.Currency = "CNY/h"
		return b.SetCatalog(market)
	})
	r.until(`document.querySelector('figcaption').innerText.includes('CNY')`)
	if over := of[int](r, `[...document.querySelectorAll('.uplot canvas')].filter((u) => u.getBoundingClientRect().right > u.closest('figure').getBoundingClientRect().right).length`); over > 0 {
		t.Errorf("%d plots are wider than what they stand in", over)
	}
	r.until(`document.querySelector('.u-legend').innerText.includes('1.259')`) // the latest figure is read beside its plot
	r.shot("currency")
}
