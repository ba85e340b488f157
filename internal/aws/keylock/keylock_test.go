package keylock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Locks
		var mu sync.Mutex
		working, most := map[string]int{}, map[string]int{}
		began := time.Now()
		var all sync.WaitGroup
		for i := range 20 {
			key := []string{"a", "b"}[i%2]
			all.Go(func() {
				unlock, err := l.Lock(t.Context(), key)
				if err != nil {
					t.Error(err)
					return
				}
				defer unlock()
				mu.Lock()
				working[key]++
				most[key] = max(most[key], working[key])
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				working[key]--
				mu.Unlock()
			})
		}
		all.Wait()
		if most["a"] != 1 || most["b"] != 1 || time.Since(began) != 10*time.Second {
			t.Errorf("%v worked at once, for %s; want one at each key, and keys side by side", most, time.Since(began))
		}
		if len(l.all) != 0 {
			t.Errorf("%d keys are remembered", len(l.all))
		}
	})
}

func TestGiveUpWaiting(t *testing.T) {
	var l Locks
	unlock, err := l.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Lock(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	unlock()
	if unlock, err = l.Lock(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	unlock()
}
