package lead

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/tenon-sh/tenon/internal/clock"
)

// store has Leases as the API server has them: an update of what has changed since is refused.
type store struct {
	mu      sync.Mutex
	version int
	leases  map[types.NamespacedName]*coordinationv1.Lease
	writes  atomic.Int64
	started int // processes
}

func newStore() *store { return &store{leases: map[types.NamespacedName]*coordinationv1.Lease{}} }

var resource = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (s *store) get(name types.NamespacedName) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.leases[name]; l != nil {
		return l.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(resource, name.String())
}

func (s *store) put(name types.NamespacedName, l *coordinationv1.Lease, create bool) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := s.leases[name]
	switch {
	case create && is != nil:
		return nil, apierrors.NewAlreadyExists(resource, name.String())
	case !create && is == nil:
		return nil, apierrors.NewNotFound(resource, name.String())
	case !create && is.ResourceVersion != l.ResourceVersion:
		return nil, apierrors.NewConflict(resource, name.String(), errors.New("it has changed"))
	}
	s.version++
	s.writes.Add(1)
	next := l.DeepCopy()
	next.Namespace, next.Name, next.ResourceVersion = name.Namespace, name.Name, strconv.Itoa(s.version)
	s.leases[name] = next
	return next.DeepCopy(), nil
}

func (s *store) remove(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leases, name)
}

// line is how one process reaches the store.
type line struct {
	store *store

	mu   sync.Mutex
	cut  time.Time            // until when requests and answers are held up
	late func() time.Duration // how long a request, and an answer, takes
	down bool                 // every request is refused at once
}

func (l *line) hold(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = until
}

func (l *line) refuse(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

func (l *line) delay() {
	l.mu.Lock()
	cut, late := l.cut, l.late
	l.mu.Unlock()
	if late != nil {
		time.Sleep(late())
	}
	time.Sleep(time.Until(cut))
}

// call sends a request. Its caller gives up after a while; the request may arrive all the same.
func (l *line) call(ctx context.Context, ask func() (*coordinationv1.Lease, error)) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	down := l.down
	l.mu.Unlock()
	if down {
		return nil, errors.New("connection refused")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	type answer struct {
		l   *coordinationv1.Lease
		err error
	}
	got := make(chan answer, 1)
	go func() {
		l.delay()
		lease, err := ask()
		l.delay()
		got <- answer{lease, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case a := <-got:
		return a.l, a.err
	}
}

// Leases is a client's.
func (l *line) Leases(namespace string) coordinationv1client.LeaseInterface {
	return leases{line: l, namespace: namespace}
}

type leases struct {
	coordinationv1client.LeaseInterface

	line      *line
	namespace string
}

func (l leases) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return l.line.call(ctx, func() (*coordinationv1.Lease, error) {
		return l.line.store.get(types.NamespacedName{Namespace: l.namespace, Name: name})
	})
}

func (l leases) put(ctx context.Context, o *coordinationv1.Lease, create bool) (*coordinationv1.Lease, error) {
	o = o.DeepCopy()
	return l.line.call(ctx, func() (*coordinationv1.Lease, error) {
		return l.line.store.put(types.NamespacedName{Namespace: l.namespace, Name: o.Name}, o, create)
	})
}

func (l leases) Create(ctx context.Context, o *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return l.put(ctx, o, true)
}

func (l leases) Update(ctx context.Context, o *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return l.put(ctx, o, false)
}

// process is a controller that waits for its turn, or has it.
type process struct {
	line  *line
	fence *Fence
	lock  *Lock
	stop  context.CancelFunc
	ended chan struct{}
}

// start starts a process of the installation whose Lease is in a namespace.
func start(s *store, namespace string) *process { return startAt(s, namespace, 0) }

// startAt starts one whose computer's clock is ahead of all others.
func startAt(s *store, namespace string, ahead time.Duration) *process {
	own := func() time.Time { return time.Now().Add(ahead) }
	s.mu.Lock()
	s.started++
	id := strconv.Itoa(s.started)
	s.mu.Unlock()
	p := &process{line: &line{store: s}, fence: NewFence(own), ended: make(chan struct{})}
	p.lock = NewLock(Config{
		Leases: p.line, Name: types.NamespacedName{Namespace: namespace, Name: "karpenter-leader-election"},
		Identity: Identity("host", id), Fence: p.fence, Log: logr.Discard(), Now: own, Dates: clock.Wall,
	})
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: p.lock, LeaseDuration: Duration, RenewDeadline: Deadline, RetryPeriod: Retry, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	if err != nil {
		panic(err)
	}
	go func() {
		defer close(p.ended)
		defer stop()
		go func() {
			select {
			case <-p.lock.Lost(): // as the program ends then
				stop()
			case <-ctx.Done():
			}
		}()
		elector.Run(ctx)
	}()
	return p
}

// acts reports whether what the process writes would be sent.
func (p *process) acts() bool {
	now, cancel := context.WithCancel(context.Background())
	cancel() // it does not wait
	return p.fence.Wait(now) == nil
}

// kill ends a process as kill -9 does: it says nothing to anybody.
func (p *process) kill() {
	p.line.refuse(true)
	p.fence.shut(errors.New("killed"))
	p.stop()
	<-p.ended
}

// end ends a process as SIGTERM does.
func (p *process) end() { p.stop(); <-p.ended }

// until waits until something is so, and returns how long that took.
func until(t *testing.T, limit time.Duration, what string, is func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > limit {
			t.Fatalf("after %s: not %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

// during checks for a while that something is so at every moment.
func during(t *testing.T, span time.Duration, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); time.Since(began) < span; time.Sleep(10 * time.Millisecond) {
		if !is() {
			t.Fatalf("after %s: not %s", time.Since(began), what)
		}
	}
}

// After a kill, whenever it comes, the next replica acts within five seconds,
// and one renewal a second is all that this costs.
func TestTakesOverAfterAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, at := newStore(), rand.New(rand.NewPCG(1, 1))
		first := start(s, "karpenter")
		until(t, time.Second, "the first acts", first.acts)
		worst := time.Duration(0)
		for range 50 {
			second := start(s, "karpenter")
			time.Sleep(20*time.Second + time.Duration(at.IntN(3000))*time.Millisecond)
			if other, own := second.lock.Leader(), first.lock.Leader(); other != "karpenter/host" || own != "" {
				t.Errorf("the one that waits says that %q leads, and the one that leads names %q", other, own)
			}
			first.kill()
			worst = max(worst, until(t, 20*time.Second, "the next acts", second.acts))
			first = second
		}
		t.Log("the worst of 50 took ", worst)
		if worst >= 5*time.Second {
			t.Errorf("the next acts %s after a kill, want less than 5s", worst)
		}
		before := s.writes.Load()
		time.Sleep(100 * time.Second)
		if n := s.writes.Load() - before; n > 150 {
			t.Errorf("%d writes in 100 seconds", n)
		}
		first.end()
	})
}

// A leader that is paused, and wakes when its Lease is another's, writes nothing from then on.
func TestAPausedLeaderWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		first := start(s, "karpenter")
		until(t, time.Second, "the first acts", first.acts)
		second := start(s, "karpenter")
		time.Sleep(30 * time.Second)
		first.line.hold(time.Now().Add(time.Minute)) // its writers go on, as the worst of all pauses has it
		until(t, 6*time.Second, "the second acts", func() bool {
			if first.acts() && second.acts() {
				t.Fatal("both act")
			}
			return second.acts()
		})
		during(t, 3*time.Minute, "only the second acts", func() bool { return !first.acts() && second.acts() })
		if err := first.fence.Wait(t.Context()); !errors.Is(err, ErrNotLeading) {
			t.Errorf("the first would be told: %v", err)
		}
		<-first.ended
		second.end()
	})
}

// Two installations in different namespaces do not both act, and one takes the place of the other.
func TestTwoInstallations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		one := start(s, "karpenter")
		until(t, time.Second, "the first acts", one.acts)
		other := start(s, "kube-system")
		during(t, 2*time.Minute, "only the first acts", func() bool { return one.acts() && !other.acts() })
		one.kill()
		took := until(t, 25*time.Second, "the other acts", other.acts)
		t.Log("an installation took the place of a dead one after ", took)
		again := start(s, "karpenter")
		during(t, time.Minute, "only the other acts", func() bool { return other.acts() && !again.acts() })
		other.end()
		until(t, 5*time.Second, "the first acts again", again.acts)
		again.end()
	})
}

// By a clock that is a day ahead every Lease was renewed long ago. It does not count.
func TestTheClockIsADayAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		one := start(s, "karpenter")
		until(t, time.Second, "the first acts", one.acts)
		time.Sleep(time.Minute)
		ahead := startAt(s, "kube-system", 24*time.Hour)
		during(t, 2*time.Minute, "only the first acts", func() bool { return one.acts() && !ahead.acts() })
		one.end()
		until(t, 5*time.Second, "the other acts", ahead.acts)
		behind := startAt(s, "karpenter", -24*time.Hour)
		during(t, 2*time.Minute, "only the other acts", func() bool { return ahead.acts() && !behind.acts() })
		ahead.end()
		behind.end()
	})
}

// Two that begin at the same moment do not both act.
func TestTwoBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		one, other := start(s, "a"), start(s, "b")
		until(t, 20*time.Second, "one acts", func() bool { return one.acts() || other.acts() })
		during(t, time.Minute, "only one acts", func() bool { return one.acts() != other.acts() })
		one.end()
		other.end()
	})
}

// karpenter holds a Lease as Karpenter does, until stop is called.
func karpenter(s *store, namespace string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	name := types.NamespacedName{Namespace: namespace, Name: "karpenter-leader-election"}
	go func() {
		for ctx.Err() == nil {
			l, err := s.get(name)
			if err != nil {
				l = &coordinationv1.Lease{}
			}
			holder, seconds, now := "karpenter-0_1", int32(15), metav1.NowMicro()
			l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = &holder, &seconds, &now
			_, _ = s.put(name, l, err != nil)
			time.Sleep(2 * time.Second)
		}
	}()
	return cancel
}

// Karpenter in the other of its usual namespaces keeps this controller from
// acting, and one that comes later ends it: Karpenter itself looks at no other.
func TestKarpenterElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		stop := karpenter(s, "kube-system")
		synctest.Wait()
		p := start(s, "karpenter")
		during(t, 2*time.Minute, "Karpenter acts alone", func() bool { return !p.acts() })
		stop()
		t.Log("after Karpenter was gone this acted in ", until(t, 20*time.Second, "this acts", p.acts))
		stop = karpenter(s, "kube-system")
		until(t, 5*time.Second, "this acts no more", func() bool { return !p.acts() })
		<-p.ended
		if _, lost := p.fence.led(); lost == nil || !isTaken(lost) {
			t.Errorf("it ends with %v, want that it names Karpenter", lost)
		}
		stop()
		time.Sleep(2 * time.Hour) // the Lease is left over
		p = start(s, "karpenter")
		until(t, time.Second, "what is left over stops no replica", p.acts)
		p.end()
	})
}

// While the API server is away, no replica acts, and none takes the leader's place because of it.
func TestTheAPIServerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		one := start(s, "karpenter")
		until(t, time.Second, "the first acts", one.acts)
		two := start(s, "karpenter")
		time.Sleep(30 * time.Second)
		for range 5 {
			one.line.refuse(true)
			two.line.refuse(true)
			time.Sleep(30 * time.Second)
			if one.acts() || two.acts() {
				t.Error("one acts although its Lease may have ended")
			}
			one.line.refuse(false)
			two.line.refuse(false)
			until(t, time.Second, "the leader acts again", one.acts)
			during(t, time.Minute, "the leader is the same", func() bool { return one.acts() && !two.acts() })
		}
		one.end()
		until(t, 2*time.Second, "the other acts", two.acts)
		two.end()
	})
}

// Where every answer takes a second and a half, leases are longer, and the leader stays.
func TestTheAPIServerIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		one, two := start(s, "karpenter"), start(s, "karpenter")
		late := func() time.Duration { return 750 * time.Millisecond }
		until(t, 5*time.Second, "one acts", func() bool { return one.acts() || two.acts() })
		if two.acts() {
			one, two = two, one
		}
		one.line.mu.Lock()
		one.line.late = late
		one.line.mu.Unlock()
		time.Sleep(10 * time.Second)
		during(t, 5*time.Minute, "the leader stays and acts", func() bool { return one.acts() && !two.acts() })
		one.kill()
		until(t, 20*time.Second, "the other acts", two.acts)
		two.end()
	})
}

// Somebody deletes the Leases. Still no two act.
func TestLeasesAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		all := []*process{start(s, "a"), start(s, "a"), start(s, "b")}
		for _, name := range []types.NamespacedName{{Namespace: "a", Name: "karpenter-leader-election"}, Mark} {
			time.Sleep(time.Minute)
			s.remove(name)
			during(t, time.Minute, "at most one acts", func() bool { return acting(all) <= 1 })
			if acting(all) != 1 {
				t.Errorf("%s is deleted, and a minute later %d act", name, acting(all))
			}
		}
		for _, p := range all {
			p.end()
		}
	})
}

func acting(all []*process) (n int) {
	synctest.Wait() // what happens in this moment has happened: no replica hands over between two looks
	for _, p := range all {
		if p.acts() {
			n++
		}
	}
	return n
}

// Whatever happens to four processes of two installations, no two act at any
// moment, and when the world is kind again one does.
func TestNeverTwo(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 12))
				s := newStore()
				names := []string{"karpenter", "karpenter", "kube-system", "kube-system"}
				all := make([]*process, len(names))
				for i, n := range names {
					all[i] = start(s, n)
				}
				for range 150 {
					i := r.IntN(len(all))
					p := all[i]
					switch r.IntN(7) {
					case 0:
						p.kill()
						all[i] = start(s, names[i])
					case 1, 2:
						p.line.hold(time.Now().Add(time.Duration(r.IntN(30_000)) * time.Millisecond))
					case 3:
						p.line.refuse(true)
					case 4:
						p.line.refuse(false)
					case 5:
						spread := 1 + r.IntN(3000)
						var mu sync.Mutex
						own := rand.New(rand.NewPCG(seed, uint64(spread)))
						p.line.mu.Lock()
						p.line.late = func() time.Duration {
							mu.Lock()
							defer mu.Unlock()
							return time.Duration(own.IntN(spread)) * time.Millisecond
						}
						p.line.mu.Unlock()
					case 6:
						for _, q := range all {
							q.line.hold(time.Time{})
						}
					}
					for j, q := range all { // as a pod is started again
						select {
						case <-q.ended:
							all[j] = start(s, names[j])
						default:
						}
					}
					during(t, time.Duration(r.IntN(8000))*time.Millisecond, "at most one acts", func() bool { return acting(all) <= 1 })
				}
				for i, p := range all {
					p.kill()
					all[i] = start(s, names[i])
				}
				until(t, time.Minute, "one acts", func() bool { return acting(all) == 1 })
				for _, p := range all {
					p.end()
				}
				time.Sleep(time.Minute) // what is still held up arrives
			})
		})
	}
}
