package web_test

import (
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/web"
)

// chromium is a browser, by any of the names that distributions give it.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no browser, and CI must have one: apt-get install chromium")
	}
	t.Skip("no browser: install chromium to have the pages looked at")
	return ""
}

// cluster is a World of so many nodes, and what was decided of it: pods that wait, are planned and refused, and nodes that go.
func cluster(t *testing.T, nodes int) (*world.World, *journal.Journal) {
	t.Helper()
	b := world.NewBuilder()
	pool := world.PoolID{Kind: world.NodePool, Name: "default"}
	spare := world.PoolID{Kind: world.NodePool, Name: "batch-of-the-machine-learning-team"}
	room := func(cpu, memory, pods int64) amount.List {
		return amount.Of(amount.Entry{Name: amount.CPU, Value: cpu}, amount.Entry{Name: amount.Memory, Value: memory << 30 * 1000}, amount.Entry{Name: amount.Pods, Value: pods * 1000})
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	shape := func(name string, cpu, memory int64, price money.Micro) world.Shape {
		s := world.Shape{Name: name, Capacity: room(cpu, memory, 58)}
		for _, zone := range []string{"us-west-2a", "us-west-2b", "us-west-2c"} {
			for _, kind := range []string{"spot", "on-demand"} {
				p := price
				if kind == "spot" {
					p = price / 3
				}
				s.Offers = append(s.Offers, world.Offer{Zone: zone, CapacityType: kind, Price: p})
			}
		}
		return s
	}
	if nodes > 0 {
		must(b.SetCatalog(world.Catalog{Template: "t", Currency: "USD", Shapes: []world.Shape{shape("m5.large", 2000, 8, 96_000), shape("c6id.24xlarge", 96_000, 192, 4_838_400)}}))
		for _, id := range []world.PoolID{pool, spare} {
			must(b.SetPool(world.Pool{ID: id, Template: "t", Limits: room(1_000_000, 4000, 100_000)}))
		}
	}
	for i := range nodes {
		name := fmt.Sprintf("ip-192-168-%d-%d.us-west-2.compute.internal", i/250, i%250)
		claim := fmt.Sprintf("default-%05d", i)
		kind, cpu, memory := "m5.large", int64(2000), int64(8)
		if i%7 == 3 {
			kind, cpu, memory = "c6id.24xlarge", 96_000, 192
		}
		taints := []world.Taint(nil)
		if i%11 == 5 {
			taints = []world.Taint{{Key: "karpenter.sh/disrupted", Effect: world.NoSchedule}}
		}
		labels := map[string]string{label.InstanceType: kind, label.Zone: "us-west-2" + string(rune('a'+i%3)), label.CapacityType: []string{"spot", "on-demand"}[i%2], label.Region: "us-west-2"}
		must(b.SetNode(world.Node{Name: name, Pool: pool, Claim: claim, Ready: i%13 != 12, Taints: taints, Labels: labels, Allocatable: room(cpu, memory, 58)}))
		must(b.SetClaim(world.Claim{Name: claim, Pool: pool, Template: "t", Node: name, Registered: true, Deleting: i%17 == 9}))
		must(b.SetPod(world.Pod{Key: world.Key{Namespace: "demo", Name: fmt.Sprintf("web-58974947d7-%05d", i)}, Node: name, Requests: room(cpu/4*int64(1+i%4), memory/2, 1)}))
	}
	for i := range nodes {
		p := world.Pod{Key: world.Key{Namespace: "demo", Name: fmt.Sprintf("train-5578675867-%05d", i)}, Waiting: true, Requests: room(1500, 2, 1)}
		switch i % 3 {
		case 0: // more than any machine has
			p.Requests = room(200_000, 2, 1)
		case 1: // more than a node has left
			p.Requests = room(90_000, 2, 1)
		}
		must(b.SetPod(p))
	}
	w := b.Snapshot(1_800_000_000)
	j := journal.New(100, "v1", nil)
	if nodes > 0 {
		j.Add(journal.Entry{Kind: journal.GiveBack, World: w, Plan: plan.Plan{Commands: []plan.Command{{
			Reason: plan.Underutilized, Verdict: plan.Begin,
			Back: []plan.Give{{Claim: "default-00005", Node: "ip-192-168-0-5.us-west-2.compute.internal", Pool: pool, Reason: "Underutilized: its pods fit elsewhere"}},
		}}}})
		b := w.Edit()
		w = b.Snapshot(1_800_000_060)
		j.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{})})
	}
	return w, j
}

// Whatever the cluster's size (of 600 nodes the page has as many rows as of more), no page is wider than the window, no row of a table is taller than what it says needs,
// and all text can be read, in light and in dark.
func TestPagesInABrowser(t *testing.T) {
	browser := chromium(t)
	mux := http.NewServeMux()
	var pages []string
	for _, nodes := range []int{0, 1, 20, 600} {
		w, j := cluster(t, nodes)
		h := web.Handler(web.Config{Decisions: j, World: func() *world.World { return w }})
		at := fmt.Sprintf("/%d", nodes)
		mux.Handle(at+"/", http.StripPrefix(at, h))
		pages = append(pages, at+"/", at+"/decisions/")
		for _, e := range j.All() {
			pages = append(pages, at+"/decisions/"+e.World.Digest())
		}
	}
	look := template.Must(template.New("look").Parse(lookAtPages))
	mux.HandleFunc("/look", func(w http.ResponseWriter, _ *http.Request) {
		if err := look.Execute(w, pages); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	for theme, flags := range map[string][]string{"light": nil, "dark": {"--blink-settings=preferredColorScheme=0"}} {
		t.Run(theme, func(t *testing.T) {
			args := append([]string{
				"--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(), "--virtual-time-budget=60000", "--dump-dom",
			}, flags...)
			out, err := exec.CommandContext(t.Context(), browser, append(args, server.URL+"/look")...).Output()
			if err != nil {
				t.Fatalf("%s: %v", browser, err)
			}
			_, said, _ := strings.Cut(string(out), `<pre id="said">`)
			said, _, done := strings.Cut(said, "</pre>")
			if !done || !strings.HasSuffix(said, fmt.Sprintf("looked at %d pages of %s\n", 3*len(pages), theme)) {
				t.Fatalf("the browser did not look at all pages:\n%.2000s", said)
			}
			if strings.Count(said, "\n") > 1 {
				t.Errorf("%.4000s", said)
			}
		})
	}
}

// lookAtPages is a page that opens others at three widths, one after another, and writes down what is wrong with them.
const lookAtPages = `<!doctype html><pre id="said"></pre><script>
const pages = [{{range .}}{{.}},{{end}}], said = document.getElementById("said"), seen = new Set();
const tell = text => { if (!seen.has(text)) { seen.add(text); said.textContent += text + "\n"; } };
const rgb = text => text.match(/[\d.]+/g).map(Number);
const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
const ground = e => { for (; e; e = e.parentElement) { const c = rgb(e.ownerDocument.defaultView.getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
let theme = "light", looked = 0;
function look(page, width, view) {
  const d = view.document, at = page + " at " + width + ": ";
  looked++;
  if (d.documentElement.scrollWidth > width) tell(at + "it is " + d.documentElement.scrollWidth + " wide");
  for (const row of d.querySelectorAll(".wide tr")) {
    const lines = row.getBoundingClientRect().height / 22.5; // a line is 15px times 1.5
    const most = row.cells.length >= 10 ? 1.9 : 2.6; // of nodes there may be hundreds, and nothing in them is prose
    if (lines > most && !row.querySelector(".pods")) tell(at + "a row of " + lines.toFixed(1) + " lines: " + row.innerText);
  }
  for (const e of d.querySelectorAll("h1,h2,p,a,th,td,.tag,.card b,.card span,summary,.soft,.hint,code")) {
    if (!e.innerText) continue;
    const a = light(rgb(view.getComputedStyle(e).color)), b = light(ground(e)), c = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (c < 4.5) tell("contrast " + c.toFixed(2) + " of " + e.tagName + "." + e.className);
  }
  if (light(ground(d.body)) < .1) theme = "dark";
}
(async () => {
  for (const page of pages) for (const width of [375, 820, 1440]) await new Promise(next => {
    const f = document.createElement("iframe");
    f.width = width; f.height = 1000; f.style.border = 0;
    f.onload = () => { look(page, width, f.contentWindow); f.remove(); next(); };
    f.src = page;
    document.body.append(f);
  });
  tell("looked at " + looked + " pages of " + theme);
})();
</script>`
