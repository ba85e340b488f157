package matrix

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// queues is what controller-runtime's queues are called in a stack.
const queues = "controller-runtime/pkg/controller/priorityqueue."

// bubbled runs a test in a bubble. A queue of controller-runtime that is shut down while it
// hands an item to a worker goes on handing it out for ever, since the worker has gone. A
// process that ends does not mind; a bubble panics, and with it all tests that run beside it.
// It returns whether a queue was left behind.
func bubbled(t *testing.T, f func(*testing.T)) (left bool) {
	t.Helper()
	var bubble string
	defer func() {
		t.Helper()
		switch broke := recover(); {
		case broke == nil:
		case strings.Contains(fmt.Sprint(broke), "blocked goroutines remain") && onlyQueues(stacks(true), bubble):
			left = true
		default:
			panic(broke)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		bubble = bubbleOf(stacks(false))
		f(t)
	})
	return false
}

// stacks are those of all goroutines, or of this one.
func stacks(all bool) string {
	text := make([]byte, 1<<16)
	for {
		n := runtime.Stack(text, all)
		if n < len(text) {
			return string(text[:n])
		}
		text = make([]byte, 2*len(text))
	}
}

// bubbleOf is what the first goroutine's bubble is called.
func bubbleOf(stack string) string {
	return regexp.MustCompile(`synctest bubble \d+`).FindString(stack)
}

// onlyQueues says whether a bubble has goroutines, and all of them are of queues.
func onlyQueues(stacks, bubble string) bool {
	found := false
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		head, frames, _ := strings.Cut(stack, "\n")
		if bubble == "" || !strings.Contains(head, bubble+"]") && !strings.Contains(head, bubble+",") {
			continue
		}
		if !strings.Contains(frames, queues) {
			return false
		}
		found = true
	}
	return found
}

// A queue that is left behind costs no other test: here it is shut down by one of many workers that get their items at the same moment.
func TestLeftBehind(t *testing.T) {
	if runtime.NumCPU() == 1 {
		t.Skip("one processor does one thing at a time")
	}
	const tries, workers = 1000, 300
	for range tries {
		left := bubbled(t, func(*testing.T) {
			q := priorityqueue.New[int]("left")
			var once sync.Once
			for range workers {
				go func() {
					q.Get()
					once.Do(q.ShutDown)
				}()
			}
			synctest.Wait()
			for i := range workers {
				q.Add(i)
			}
		})
		if left {
			return
		}
	}
	t.Error("nothing was left behind: bubbled is needed no more")
}

func TestOnlyQueues(t *testing.T) {
	const (
		sends = "goroutine 9 [chan send (durable), synctest bubble 27]:\nsigs.k8s.io/" + queues + "(*priorityqueue[...]).handleReadyItems()\n"
		ours  = "goroutine 8 [select (durable), synctest bubble 27]:\ngithub.com/tenon-sh/tenon/internal/loop.Run()\n"
		other = "goroutine 7 [select (durable), synctest bubble 275]:\ngithub.com/tenon-sh/tenon/internal/loop.Run()\n"
	)
	for _, test := range []struct {
		name, bubble string
		stacks       []string
		want         bool
	}{
		{name: "a queue", bubble: "synctest bubble 27", stacks: []string{sends}, want: true},
		{name: "a queue, and what is of another bubble", bubble: "synctest bubble 27", stacks: []string{other, sends}, want: true},
		{name: "a queue and a loop of ours", bubble: "synctest bubble 27", stacks: []string{sends, ours}},
		{name: "nothing", bubble: "synctest bubble 27", stacks: []string{other}},
		{name: "no bubble", stacks: []string{sends}},
	} {
		if got := onlyQueues(strings.Join(test.stacks, "\n"), test.bubble); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	synctest.Test(t, func(*testing.T) {
		if bubbleOf(stacks(false)) == "" {
			t.Error("a goroutine does not say of which bubble it is")
		}
	})
}
