package loop

import (
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/clock"
)

// quiet is how long the same event of the same object is not repeated.
const quiet = 2 * time.Minute

// Events publishes events, each at most once in a while. A nil Events publishes nothing.
type Events struct {
	recorders []record.EventRecorder
	now       clock.Now
	paces     map[string]*rate.Limiter // by reason

	mu    sync.Mutex
	seed  maphash.Seed
	said  map[uint64]time.Time // by the hash of what was said: there may be hundreds of thousands
	swept time.Time
}

// NewEvents returns Events over recorders, which share the objects: one writes an
// event at a time, and forgets what does not fit into its queue.
func NewEvents(now clock.Now, recorders ...record.EventRecorder) *Events {
	return &Events{recorders: recorders, now: now, seed: maphash.MakeSeed(), said: map[uint64]time.Time{}}
}

// Pace has events of a reason left out that are more than so many a second after so many at once. It is called before any is published.
func (e *Events) Pace(reason string, perSecond rate.Limit, atOnce int) {
	if e.paces == nil {
		e.paces = map[string]*rate.Limiter{}
	}
	e.paces[reason] = rate.NewLimiter(perSecond, atOnce)
}

// Normal says that something happened to an object.
func (e *Events) Normal(o client.Object, reason, format string, args ...any) {
	e.say(o, corev1.EventTypeNormal, quiet, reason, fmt.Sprintf(format, args...))
}

// Warning says that something is wrong with an object.
func (e *Events) Warning(o client.Object, reason, format string, args ...any) {
	e.say(o, corev1.EventTypeWarning, quiet, reason, fmt.Sprintf(format, args...))
}

// NormalEvery is Normal that is repeated after a time of its own, whatever it says.
func (e *Events) NormalEvery(every time.Duration, o client.Object, reason, message string) {
	e.say(o, corev1.EventTypeNormal, every, reason, message)
}

// WarningEvery is Warning that is repeated after a time of its own, whatever it says.
func (e *Events) WarningEvery(every time.Duration, o client.Object, reason, message string) {
	e.say(o, corev1.EventTypeWarning, every, reason, message)
}

func (e *Events) say(o client.Object, kind string, every time.Duration, reason, message string) {
	if e == nil {
		return
	}
	// Parts of it may be what a kubelet or a cloud said, and events of other than UTF-8 are not taken.
	message = strings.ToValidUTF8(message, string(utf8.RuneError))
	about := string(o.GetUID())
	if about == "" {
		about = o.GetNamespace() + "/" + o.GetName()
	}
	if e.fresh([]string{about, reason, message}, every) && e.allowed(reason) {
		h := fnv.New32a()
		h.Write([]byte(about)) // what is said of an object stays in order
		e.recorders[h.Sum32()%uint32(len(e.recorders))].Event(o, kind, reason, message)
	}
}

func (e *Events) allowed(reason string) bool {
	pace := e.paces[reason]
	return pace == nil || pace.AllowN(e.now(), 1)
}

// fresh reports whether something was not said for a while, and notes that it is now.
func (e *Events) fresh(what []string, every time.Duration) bool {
	var h maphash.Hash
	h.SetSeed(e.seed)
	for _, s := range what {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	key := h.Sum64()
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if now.Sub(e.swept) > 10*time.Minute {
		for k, at := range e.said {
			if now.After(at) {
				delete(e.said, k)
			}
		}
		e.swept = now
	}
	if at, ok := e.said[key]; ok && now.Before(at) {
		return false
	}
	e.said[key] = now.Add(every)
	return true
}
