package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// card is the text of the cards at the top that are about consolidation.
const card = `[...document.querySelectorAll('.cards > *')].map((c) => c.innerText.replace(/\s+/g, ' ')).filter((t) => t.includes('consolidation')).join('|')`

// moves is a plan of moves, which save so many millionths an hour: the second is held up.
func moves(saves ...money.Micro) plan.Plan {
	p := plan.Plan{Price: 4_000_000, Least: 2_500_000, Kept: []plan.Kept{
		{Node: "node-00008", Claim: "c8", Reason: plan.Underutilized, Price: 300_000, Why: &reason.Why{Code: reason.DoNotDisrupt, Subject: "<b>pod</b>"}},
		{Node: "node-00009", Claim: "c9", Reason: plan.Underutilized, Price: 200_000, Why: &reason.Why{Code: reason.DoNotDisrupt, Subject: "other"}},
	}}
	for i, s := range saves {
		c := plan.Command{Reason: plan.Underutilized, Verdict: plan.Begin, Saving: s, Pods: 3 + i}
		for j := range 4 - i {
			c.Back = append(c.Back, plan.Give{Claim: fmt.Sprintf("c%d-%d", i, j), Node: fmt.Sprintf("node-0000%d", 4*i+j)})
		}
		if i == 1 {
			c.Verdict, c.Why = plan.Wait, &reason.Why{Code: reason.Budget, Subject: "<img src=x onerror=window.pwned=1>"}
		}
		p.Commands = append(p.Commands, c)
	}
	return p
}

// What consolidation would save is on the first page and, with its moves and what keeps the others, on that of pools. It
// is that of the last decision which looked, and follows the next one.
func TestSavings(t *testing.T) {
	c := serve(t, large(12))
	c.decide()
	r := open(t, c.URL, 1400, 1000)
	r.live()
	r.nodes("12")
	if got := of[string](r, card); got != "" {
		t.Errorf("before anything was looked for it says %q", got)
	}
	c.keep(journal.GiveBack, moves(750_000, 250_000))
	r.until(card + ` === '0.750 an hour saved by consolidation now, 0.250 held up'`)
	for _, width := range []int64{400, 1000, 1800} {
		r.do(chromedp.EmulateViewport(width, 1000))
		r.until(evenly(".totals .card"))
		r.shot(fmt.Sprint("savings-card-", width))
	}
	r.do(chromedp.EmulateViewport(1400, 1000))
	c.edit(func(b *world.Builder) error {
		b.DeletePod(world.Key{Namespace: "default", Name: "new-00000"})
		return nil
	})
	c.decide() // what is bought says nothing of what could be saved
	r.do(chromedp.Navigate(c.URL + "/#decisions"))
	r.until(`document.querySelectorAll('.timeline .decision').length === 3`)
	r.do(chromedp.Navigate(c.URL + "/#pools"))
	r.until(`document.querySelectorAll('main table').length === 3`)
	r.shot("savings")
	text := of[string](r, `document.querySelector('main').innerText.replace(/\s+/g, ' ')`)
	for _, want := range []string{
		"Moves that may begin now save 0.750 USD an hour, moves that something holds up 0.250.", "The nodes of pools cost 4.000; new nodes for the pods that can move would cost 2.500 at least.",
		"node-00000node-00001node-00002 and 1 more 0.750 3 0", "<img src=x onerror=window.pwned=1>", "What keeps the other nodes", "2 0.500", "<b>pod</b>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
	if of[bool](r, `window.pwned !== undefined || document.querySelector('main b') !== null`) {
		t.Error("what holds a move up is markup")
	}
	c.keep(journal.GiveBack, moves())
	r.until(`document.querySelector('main').innerText.includes('No move saves anything now.')`)
	r.do(chromedp.Navigate(c.URL + "/#cluster"))
	r.until(card + `.startsWith('0.000 an hour saved by consolidation now')`)
}

// A node that could go is one key away from why it is there.
func TestSavingsByKeyboard(t *testing.T) {
	c := serve(t, large(12))
	c.keep(journal.GiveBack, moves(750_000))
	r := open(t, c.URL+"/#pools", 1400, 1000)
	r.live()
	r.until(`document.querySelectorAll('main table').length === 3`)
	r.do(chromedp.Focus(chromedp.CSS("main h2 ~ .wide button.link")))
	r.press(kb.Enter)
	r.until(`!document.querySelector('.drawer').hidden && document.querySelector('.drawer').innerText.includes('node-00000')`)
	r.press(kb.Escape)
	r.until(`document.querySelector('.drawer').hidden`)
}
