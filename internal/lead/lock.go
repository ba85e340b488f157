package lead

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/tenon-sh/tenon/internal/clock"
)

// How the elector of client-go has to be set for a Lock. What it calls the
// duration of the lease the Lock replaces by one that it chooses itself.
const (
	Duration = 90 * time.Second       // more than Deadline
	Deadline = 60 * time.Second       // as long as the API server may be away before a leader starts again
	Retry    = 250 * time.Millisecond // a candidate looks so often, or half as often
)

// pace is how a Lease is renewed: how long it lasts for others, for how long of
// that its holder acts, and how often it is renewed. What lies between the first
// two is the time that a write may need to reach the API server.
type pace struct{ lease, act, every time.Duration }

// A candidate takes over at the latest lease + 2 × 2.2 × Retry after a crash.
// While the API server answers late, or this process gets little time, the lease
// is a longer one: a change of leaders does not help then.
var (
	quick = pace{3 * time.Second, 2 * time.Second, time.Second}
	slow  = pace{15 * time.Second, 10 * time.Second, time.Second}
)

const (
	prompt  = 500 * time.Millisecond // an answer within that is in time
	calming = 10                     // so many answers in time make a slow pace quick again
)

// Lock is the Lease of an installation, as client-go's elector wants it. What
// holds it and the mark of the cluster opens the fence.
type Lock struct {
	resourcelock.Interface // the Lease itself

	name  types.NamespacedName
	fence *Fence
	mark  *mark
	now   clock.Now
	log   logr.Logger
	lost  chan struct{}

	mu      sync.Mutex // the elector asks from one goroutine, and the release may come from another
	renewed time.Time  // when the last renewal that was granted was asked for
	granted pace       // of that
	pace    pace
	prompt  int    // answers in time since the last that was late
	away    bool   // the last look at the Lease failed, or took long
	epoch   int    // of looks, one for each time that the API server was away
	holder  string // of the Lease, when it was last read
	said    string // why this process does not act although it holds the Lease
}

// Config is what a Lock is made of.
type Config struct {
	Leases   coordinationv1client.LeasesGetter // over connections that no fence stands before
	Events   resourcelock.EventRecorder        // gets an event when another replica leads; may be nil
	Name     types.NamespacedName              // of the installation's Lease
	Identity string                            // of this process: see Identity
	Fence    *Fence
	Log      logr.Logger
	Now      clock.Now
	Dates    clock.Now // what time it is for others, who write and read the dates of Leases; nil: Now
}

// NewLock returns a lock that has not been tried yet.
func NewLock(c Config) *Lock {
	lease := &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: c.Name.Namespace, Name: c.Name.Name}, Client: c.Leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: c.Identity, EventRecorder: c.Events},
	}
	dates := c.Dates
	if dates == nil {
		dates = c.Now
	}
	return &Lock{
		Interface: lease, name: c.Name, fence: c.Fence, now: c.Now, log: c.Log, pace: quick, lost: make(chan struct{}),
		mark: &mark{leases: c.Leases, installation: c.Name, now: c.Now, dates: dates, others: map[types.NamespacedName]*sight{}},
	}
}

// Identity is how a process is named that holds a Lease as this program does.
func Identity(host, id string) string { return host + ours + id }

// ours is in the identity of every holder that keeps to the mark of the cluster.
const ours = "_tenon-"

// Leader is the replica that acts, as NAMESPACE/NAME, if it is another one and one of this program; empty if none is known.
func (l *Lock) Leader() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	host, _, known := strings.Cut(l.holder, ours)
	if !known || l.holder == l.Identity() {
		return ""
	}
	return l.name.Namespace + "/" + host
}

// Lost is closed when this process has led and another has taken its place.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// Why says why this process may not act any more.
func (l *Lock) Why() error {
	_, lost := l.fence.led()
	return lost
}

// Get is resourcelock.Interface's. A candidate measures a lease from when it saw
// it change. Where the API server was away or slow it cannot have seen that, and
// the leader could not have renewed either: the lease counts from then.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	asked := l.now()
	record, raw, err := l.Interface.Get(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	failed := err != nil && !apierrors.IsNotFound(err)
	l.note(asked, failed)
	away := failed || l.now().Sub(asked) > time.Second
	if away != l.away {
		l.epoch++
	}
	if failed && l.said == "" && ctx.Err() == nil {
		l.say(fmt.Errorf("read the Lease %s: %w", l.name, err))
	}
	l.away = away
	if err != nil {
		return record, raw, err
	}
	l.holder = record.HolderIdentity
	if led, _ := l.fence.led(); led && record.HolderIdentity != l.Identity() {
		l.lose(fmt.Errorf("%w any more: the Lease %s is held by %q", ErrNotLeading, l.name, record.HolderIdentity))
	}
	return record, fmt.Appendf(raw, "%d", l.epoch), nil
}

// Create is resourcelock.Interface's. Where there is no Lease and the mark says
// that this installation acts, the Lease was deleted: its holder is given
// the time to find out.
func (l *Lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if led, _ := l.fence.led(); !led {
		l.mu.Lock()
		err := l.mark.free(ctx)
		l.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return l.hold(ctx, r, l.Interface.Create)
}

// Update is resourcelock.Interface's: it takes the Lease, renews it or lets it go.
func (l *Lock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if r.HolderIdentity == "" {
		return l.release(ctx, r)
	}
	return l.hold(ctx, r, l.Interface.Update)
}

// hold takes or renews the Lease and the mark, and opens the fence.
func (l *Lock) hold(ctx context.Context, r resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	led, lost := l.fence.led()
	if lost != nil {
		return lost
	}
	asked := l.now()
	if l.renewed.IsZero() || asked.Sub(l.renewed) >= l.pace.every || asked.Before(l.renewed) {
		if led && asked.Sub(l.renewed) > 2*l.pace.every {
			l.slow() // this process got no time, or the API server was away
		}
		p := l.pace
		if led && p.act < l.granted.act {
			// Whether or not the answer comes, the Lease may be shorter from now on.
			l.fence.extend(installation, l.renewed, p.act)
		}
		r.LeaseDurationSeconds = int(p.lease / time.Second)
		err := write(ctx, r)
		l.note(asked, err != nil && !apierrors.IsConflict(err))
		if err != nil {
			if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
				l.say(fmt.Errorf("write the Lease %s: %w", l.name, err))
			}
			return err
		}
		l.renewed, l.granted, l.holder = asked, p, r.HolderIdentity
		l.fence.extend(installation, asked, p.act)
	}
	if err := l.mark.hold(ctx, led); err != nil {
		l.say(err)
		if led && isTaken(err) {
			l.lose(err)
		}
		return err
	}
	if l.said != "" {
		l.said = ""
		l.log.Info("this controller holds its Lease again")
	}
	l.fence.extend(wholeCluster, l.mark.renewed, markPace.act)
	return nil
}

// release lets both Leases go; nothing is written from then on.
func (l *Lock) release(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fence.shut(fmt.Errorf("%w any more: it ends", ErrNotLeading))
	if err := l.mark.release(ctx); err != nil {
		l.log.V(1).Info("could not release the lock of the whole cluster; it expires by itself", "error", err.Error())
	}
	return l.Interface.Update(ctx, r)
}

// lose is for when another acts.
func (l *Lock) lose(why error) {
	if _, lost := l.fence.led(); lost == nil {
		l.fence.shut(why)
		close(l.lost)
	}
}

// note learns from how long an answer took.
func (l *Lock) note(asked time.Time, failed bool) {
	switch {
	case failed || l.now().Sub(asked) > prompt:
		l.slow()
	case l.prompt < calming:
		l.prompt++
	default:
		l.pace = quick
	}
}

func (l *Lock) slow() { l.pace, l.prompt = slow, 0 }

// say says once why this process does not act. The elector says it at each try,
// which is for those who debug.
func (l *Lock) say(why error) {
	if text := why.Error(); text != l.said {
		l.said = text
		l.log.Error(why, "this controller does not act until it can hold its Lease and the cluster's")
	}
}
