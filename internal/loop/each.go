package loop

import (
	"errors"
	"sync"
)

// atATime is how many objects are written side by side.
const atATime = 32

// Each does something to every item, several at a time, and waits for all. It
// is given the item's place.
func Each[T any](items []T, do func(int, T) error) error {
	errs := make([]error, len(items))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atATime)
	for i, item := range items {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i, item)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
