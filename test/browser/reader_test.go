package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is how long a reader waits for anything: these machines are shared.
const patience = 90 * time.Second

// reader is a tab of a real browser.
type reader struct {
	t   *testing.T
	ctx context.Context
}

// open opens a page in a browser of its own, of a width and height in pixels.
func open(t *testing.T, url string, width, height int) *reader {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("Chromium is not installed, and CI must have it: apt-get install chromium")
		}
		t.Skip("Chromium is not installed: apt-get install chromium, or another package that has the command chromium")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(width, height), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("enable-precise-memory-info", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	r := &reader{t, ctx}
	// What goes wrong in a page is seen by the next look at it.
	r.do(chromedp.Navigate(url))
	return r
}

func (r *reader) do(steps ...chromedp.Action[chromedp.Void]) {
	r.t.Helper()
	if err := chromedp.Do(r.ctx, steps...); err != nil {
		r.shot("failed")
		r.t.Fatalf("%v\nthe page says:\n%s", err, r.body())
	}
}

// body is the text of the page, as far as it can still be had.
func (r *reader) body() string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
	return text
}

// until waits until a condition in JavaScript holds. It does not while it is about an element that is not there yet.
func (r *reader) until(condition string) {
	r.t.Helper()
	there := "(() => { try { return " + condition + " } catch (e) { if (e instanceof TypeError) return false; throw e } })()"
	if _, err := chromedp.Run(r.ctx, chromedp.Poll[bool](there)); err != nil {
		r.shot("failed")
		r.t.Fatalf("%s: %v\nthe page says:\n%s", condition, err, r.body())
	}
}

// of evaluates an expression in the page.
func of[T any](r *reader, expression string) T {
	r.t.Helper()
	v, err := chromedp.Run(r.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		r.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (r *reader) click(css string) {
	r.t.Helper()
	r.do(chromedp.Click(chromedp.CSS(css)))
}

func (r *reader) press(keys string) {
	r.t.Helper()
	r.do(chromedp.KeyEvent(keys))
}

// live waits until the page shows the cluster as it is.
func (r *reader) live() {
	r.t.Helper()
	r.until(`document.querySelector('.link-state.live') !== null`)
}

// nodes waits until the map has so many nodes, as it writes the number.
func (r *reader) nodes(n string) {
	r.t.Helper()
	r.until(fmt.Sprintf(`document.querySelector('.map canvas')?.ariaLabel?.startsWith('%s nodes')`, n))
}

// shot keeps a picture of the page in the folder that TENON_TEST_SHOTS names.
func (r *reader) shot(name string) {
	dir := os.Getenv("TENON_TEST_SHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 10*time.Second)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(r.t.Name(), "/", "-")+"-"+name+".png"), picture, 0o600)
	}
	if err != nil {
		r.t.Log(err)
	}
}
