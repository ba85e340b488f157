package launch

import (
	"maps"
	"sync"
)

// userData is how many bytes of user data machines of each class got last.
type userData struct {
	mu    sync.Mutex
	bytes map[string]int
}

// wrote notes how long the user data of a class is.
func (u *userData) wrote(class string, bytes int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bytes == nil {
		u.bytes = map[string]int{}
	}
	u.bytes[class] = bytes
}

func (u *userData) all() map[string]int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.bytes)
}
