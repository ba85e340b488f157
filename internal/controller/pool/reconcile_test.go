package pool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/loop"
)

// began is when the process began.
var began = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// claimOf is a claim of pool p, whose uid is that of its name.
func claimOf(name string, changes ...func(*v1.NodeClaim)) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelNodePool: "p"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Other", Name: "o", UID: "o"}, {Kind: "NodePool", Name: "p", UID: "p"}},
	}}
	for _, change := range changes {
		change(c)
	}
	return c
}

// What became of a machine counts for its pool once, if it became so while we looked.
func TestJudge(t *testing.T) {
	registered := func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionRegistered, "", "", began.Add(time.Minute)) }
	before := func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionRegistered, "", "", began.Add(-time.Minute)) }
	launched := func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionLaunched, "", "", began) }
	leaving := func(c *v1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: began.Add(20 * time.Minute)} }
	for name, tc := range map[string]struct {
		why    string
		seen   []*v1.NodeClaim // one after the other
		failed []bool          // what is known of the pool then
		told   int             // how often its pool is to be looked at
	}{
		"Waits":  {"It is on its way.", []*v1.NodeClaim{claimOf("a"), claimOf("a", launched)}, nil, 0},
		"Came":   {"It came up.", []*v1.NodeClaim{claimOf("a", launched), claimOf("a", registered)}, []bool{false}, 1},
		"Once":   {"It counts once.", []*v1.NodeClaim{claimOf("a", registered), claimOf("a", registered)}, []bool{false}, 1},
		"Each":   {"Each counts.", []*v1.NodeClaim{claimOf("a", registered), claimOf("b", registered)}, []bool{false, false}, 2},
		"Again":  {"Another came between, and it counts once.", []*v1.NodeClaim{claimOf("a", registered), claimOf("b", registered), claimOf("a", registered)}, []bool{false, false}, 2},
		"Before": {"An earlier process has counted it.", []*v1.NodeClaim{claimOf("a", before)}, nil, 0},
		"Failed": {"It did not register.", []*v1.NodeClaim{claimOf("a", launched), claimOf("a", launched, leaving)}, []bool{true}, 1},
		"Left":   {"It was leaving when we came.", []*v1.NodeClaim{claimOf("a", launched, leaving)}, nil, 0},
		"NoPool": {"It is of no pool.", []*v1.NodeClaim{claimOf("a", registered, func(c *v1.NodeClaim) { c.Labels = nil })}, nil, 0},
		"Early":  {"It was given up before its time was over.", []*v1.NodeClaim{claimOf("a"), claimOf("a", func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionLaunched, "", "", began.Add(10*time.Minute)) }, leaving)}, nil, 0},
		"Orphan": {"No pool owns it.", []*v1.NodeClaim{claimOf("a", registered, func(c *v1.NodeClaim) { c.OwnerReferences = c.OwnerReferences[:1] })}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &NodePools{Now: func() time.Time { return began.Add(20 * time.Minute) }, began: began, health: map[types.UID]Health{}, judged: map[types.UID]bool{}}
			told := 0
			for _, c := range tc.seen {
				for _, req := range r.judge(t.Context(), c) {
					if told++; req.Name != "p" {
						t.Errorf("%s It is %s that is to be looked at", tc.why, req.Name)
					}
				}
			}
			if diff := cmp.Diff(tc.failed, r.health["p"].Failed); diff != "" || told != tc.told {
				t.Errorf("%s The pool is looked at %d times, want %d; failures -want +got\n%s", tc.why, told, tc.told, diff)
			}
			if got := r.judge(t.Context(), &corev1.Node{}); got != nil {
				t.Errorf("a node is judged: %v", got)
			}
		})
	}
}

// A process that stood by while another led has seen none of what came up then: that one counted it, and what it
// wrote of a pool stays.
func TestStandbyCountsNothing(t *testing.T) {
	now := began
	r := &NodePools{Now: func() time.Time { return now }, health: map[types.UID]Health{}, judged: map[types.UID]bool{}}
	now = began.Add(10 * time.Minute) // it leads
	at := func(d time.Duration) func(*v1.NodeClaim) {
		return func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionRegistered, "", "", began.Add(d)) }
	}
	if got := r.judge(t.Context(), claimOf("a", at(time.Minute))); got != nil || len(r.health) > 0 {
		t.Errorf("it is counted again: %v", r.health)
	}
	if got := r.judge(t.Context(), claimOf("b", at(10*time.Minute))); len(got) != 1 {
		t.Errorf("what comes up now is not counted: %v", got)
	}
}

// What is remembered of how machines came up is forgotten with what they were asked for by.
func TestHealthOfAPool(t *testing.T) {
	at := func(generation, said int64, status metav1.ConditionStatus) *v1.NodePool {
		p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p", Generation: said}}
		p.Status.NodeClassObservedGeneration = 7
		switch status {
		case metav1.ConditionTrue:
			p.Conditions().True(v1.ConditionNodeRegistrationHealthy, "", "", began)
		case metav1.ConditionFalse:
			p.Conditions().False(v1.ConditionNodeRegistrationHealthy, "RegistrationFailed", "it did not", began)
		default:
			p.Conditions().Unknown(v1.ConditionNodeRegistrationHealthy, "AwaitingReconciliation", "not known", began)
		}
		p.Generation = generation
		return p
	}
	known := map[types.UID]Health{"p": {Failed: []bool{true}}}
	for name, tc := range map[string]struct {
		why   string
		pool  *v1.NodePool
		class int64
		knows map[types.UID]Health
		want  []bool
	}{
		"Silent":     {"It has said nothing.", &v1.NodePool{ObjectMeta: metav1.ObjectMeta{UID: "p"}}, 7, nil, nil},
		"Fine":       {"An earlier process has said that machines come up.", at(2, 2, metav1.ConditionTrue), 7, nil, []bool{false}},
		"Broken":     {"It has said that they do not.", at(2, 2, metav1.ConditionFalse), 7, nil, []bool{true, true}},
		"Unknown":    {"It did not know.", at(2, 2, metav1.ConditionUnknown), 7, nil, nil},
		"Ours":       {"What this process has seen counts.", at(2, 2, metav1.ConditionTrue), 7, known, []bool{true}},
		"OtherPool":  {"That was another generation of the pool.", at(3, 2, metav1.ConditionTrue), 7, known, nil},
		"OtherClass": {"That was another generation of its class.", at(2, 2, metav1.ConditionTrue), 8, known, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := &NodePools{}
			for uid, h := range tc.knows {
				r.health = map[types.UID]Health{uid: h}
			}
			got := r.healthOf(tc.pool, Class{Generation: tc.class})
			if diff := cmp.Diff(tc.want, got.Failed); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			if again := r.healthOf(tc.pool, Class{Generation: tc.class}); !cmp.Equal(again, got) {
				t.Errorf("%s Asked again it is %+v, and was %+v", tc.why, again, got)
			}
		})
	}
}

// A NodePool has its hash, and claims that another version gave one have it too, but for those that have drifted by then.
func TestHashes(t *testing.T) {
	annotated := func(hash, version string) func(*v1.NodeClaim) {
		return func(c *v1.NodeClaim) {
			c.Annotations = map[string]string{v1.AnnotationPoolHash: hash, v1.AnnotationPoolHashVersion: version, "mine": "kept"}
		}
	}
	now := func() time.Time { return began }
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{"mine": "kept", v1.AnnotationPoolHashVersion: "v3"}}}
	store := apitest.New(t, now, p,
		claimOf("older", annotated("1", "v3")),
		claimOf("drifted", annotated("1", "v3"), func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionDrifted, "NodePoolDrifted", "", began) }),
		claimOf("ours", annotated("2", v1.HashVersion)),
		claimOf("bare"),
		claimOf("other", annotated("1", "v3"), func(c *v1.NodeClaim) { c.Labels[v1.LabelNodePool] = "q" }),
	)
	classes := func(context.Context, v1.NodeClassReference) (Class, error) {
		return Class{Ready: metav1.ConditionTrue}, nil
	}
	r := &NodePools{Client: store, Cluster: cluster.New(now), Now: now, Classes: classes}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "p"}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		t.Fatal(err)
	}
	hash := p.Hash()
	if p.Annotations[v1.AnnotationPoolHash] != hash || p.Annotations[v1.AnnotationPoolHashVersion] != v1.HashVersion || p.Annotations["mine"] != "kept" {
		t.Errorf("the pool has %v", p.Annotations)
	}
	for name, want := range map[string]string{"older": hash, "drifted": "1", "ours": "2", "bare": "", "other": "1"} {
		c := &v1.NodeClaim{}
		if err := store.Get(t.Context(), client.ObjectKey{Name: name}, c); err != nil {
			t.Fatal(err)
		}
		if got := c.Annotations[v1.AnnotationPoolHash]; got != want {
			t.Errorf("%s has the hash %q, want %q", name, got, want)
		}
		version := map[bool]string{true: "v3", false: v1.HashVersion}[name == "other"]
		if got := c.Annotations[v1.AnnotationPoolHashVersion]; got != version && name != "bare" {
			t.Errorf("%s has a hash of version %q, want %q", name, got, version)
		}
	}
	late := claimOf("late", annotated("1", "v3"))
	if err := store.Create(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	for _, req := range append(r.ofAnotherVersion(t.Context(), late), r.ofAnotherVersion(t.Context(), claimOf("ours", annotated("2", v1.HashVersion)))...) {
		if _, err := r.Reconcile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(late), late); err != nil || late.Annotations[v1.AnnotationPoolHash] != hash {
		t.Errorf("a claim that came after its pool had been marked has %v, %v", late.Annotations, err)
	}
}

// A pool is looked at again while its class is not ready, is told which class it lacks, and is left alone once it is being deleted.
func TestReconcile(t *testing.T) {
	now := func() time.Time { return began }
	ref := &v1.NodeClassReference{Group: "g", Kind: "EC2NodeClass", Name: "n"}
	for name, tc := range map[string]struct {
		why     string
		ref     *v1.NodeClassReference
		class   Class
		message string // part of what is said of its class
		again   time.Duration
	}{
		"Ready":   {"All is well.", ref, Class{Ready: metav1.ConditionTrue}, "", 0},
		"Missing": {"Its class does not exist.", ref, Class{Missing: true}, `EC2NodeClass "n" does not exist`, unready},
		"Said":    {"Who looked for the class says more.", ref, Class{Missing: true, Message: "there is no such kind"}, "there is no such kind", unready},
		"NoName":  {"It names none.", nil, Class{Ready: metav1.ConditionTrue}, "the pool names no class", unready},
	} {
		t.Run(name, func(t *testing.T) {
			p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			p.Spec.Template.Spec.NodeClassRef = tc.ref
			store := apitest.New(t, now, p)
			r := &NodePools{Client: store, Cluster: cluster.New(now), Now: now, Classes: func(context.Context, v1.NodeClassReference) (Class, error) { return tc.class, nil }}
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(p)})
			if err != nil || result.RequeueAfter != tc.again {
				t.Errorf("%s %v, %v; want to look again after %v", tc.why, result, err, tc.again)
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
				t.Fatal(err)
			}
			if c := p.Conditions().Get(v1.ConditionNodeClassReady); c == nil || !strings.Contains(c.Message, tc.message) {
				t.Errorf("%s It is said %+v", tc.why, c)
			}
		})
	}
	gone := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", Finalizers: []string{"x/y"}}}
	store := apitest.New(t, now, gone)
	if err := store.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	r := &NodePools{Client: store, Cluster: cluster.New(now), Now: now}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(gone)}); err != nil {
		t.Errorf("a pool that is being deleted: %v", err)
	}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(gone), gone); err != nil || len(gone.Annotations) > 0 || len(gone.Status.Conditions) > 0 {
		t.Errorf("a pool that is being deleted was written to: %v, %+v", err, gone)
	}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "none"}}); err != nil {
		t.Errorf("a pool that is gone: %v", err)
	}
}

// A class concerns the pools that name it.
func TestPoolsOfAClass(t *testing.T) {
	named := func(name, class string) *v1.NodePool {
		p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if class != "" {
			p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Name: class}
		}
		return p
	}
	r := &NodePools{Client: apitest.New(t, func() time.Time { return began }, named("a", "x"), named("b", "y"), named("c", "x"), named("d", ""))}
	var got []string
	for _, req := range r.ofClass(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}) {
		got = append(got, req.Name)
	}
	if diff := cmp.Diff([]string{"a", "c"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A status is told again when it would say something else, and not before.
func TestNews(t *testing.T) {
	var c counter
	id := func(name string) world.PoolID { return world.PoolID{Kind: world.NodePool, Name: name} }
	if !c.news(id("a"), "1") {
		t.Error("nothing was told, and there is nothing to tell")
	}
	c.shows(id("a"), "1")
	c.shows(id("b"), "2")
	for name, says := range map[string]string{"a": "1", "b": "2"} {
		if c.news(id(name), says) {
			t.Errorf("%s is told the same again", name)
		}
		if !c.news(id(name), "3") {
			t.Errorf("%s is not told what is new", name)
		}
	}
}

// A pool that waits says so, once it has failed more than once.
func TestWaits(t *testing.T) {
	id := world.PoolID{Kind: world.NodePool, Name: "p"}
	for times, want := range map[int]bool{0: false, 1: false, 2: true} {
		b := world.NewBuilder()
		if err := b.SetPool(world.Pool{ID: id, Template: "t"}); err != nil {
			t.Fatal(err)
		}
		if times > 0 {
			if err := b.SetBackoff(world.Backoff{BackoffID: world.BackoffID{Pool: id, Template: "t"}, Times: times, Last: 100, Why: "it did not join"}); err != nil {
				t.Fatal(err)
			}
		}
		w := b.Snapshot(101)
		if got := waits(w, w.Pool(id)); (got != "") != want {
			t.Errorf("after %d failures it says %q", times, got)
		}
		if got := waits(w, nil); got != "" {
			t.Errorf("what is no pool says %q", got)
		}
		if news := tally(w, id, nil); !strings.Contains(news, waits(w, w.Pool(id))) || tally(w, world.PoolID{Name: "q"}, nil) != "" {
			t.Errorf("of the pool it is told %q", news)
		}
	}
}

// Of a pool that is ready and can buy nothing it is said why; one that is not ready has said so itself.
func TestNothingSoldIsTold(t *testing.T) {
	catalog := world.Catalog{Template: "t", Shapes: []world.Shape{{Name: "m5.large", Offers: []world.Offer{{Zone: "a"}}}}}
	for name, tc := range map[string]struct {
		why  string
		pool *world.Pool
		told int
	}{
		"Sold":     {"It can buy.", &world.Pool{}, 0},
		"Unsold":   {"Nothing is sold there.", &world.Pool{Requirements: label.SetOf(label.Is(label.Zone, "b"))}, 1},
		"NotReady": {"It says itself what it lacks.", &world.Pool{NotReady: "its class is missing", Requirements: label.SetOf(label.Is(label.Zone, "b"))}, 0},
		"Gone":     {"It is not there.", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			if err := b.SetCatalog(catalog); err != nil {
				t.Fatal(err)
			}
			if tc.pool != nil {
				tc.pool.Template = "t"
			}
			heard := record.NewFakeRecorder(10)
			r := &NodePools{Events: loop.NewEvents(func() time.Time { return began }, heard)}
			r.warn(&v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, tc.pool, b.Snapshot(1))
			if got := len(heard.Events); got != tc.told {
				t.Errorf("%s It is told %d times, want %d", tc.why, got, tc.told)
			}
		})
	}
}

// Pools of a kind are looked at whose status is out of date.
func TestCount(t *testing.T) {
	now := func() time.Time { return began }
	state := cluster.New(now)
	for _, name := range []string{"a", "b"} {
		state.SetNodePool(&v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	var c counter
	look := func(kind string) (out []string) {
		c.count(state, kind, func(r ctrl.Request) { out = append(out, r.Name) })
		return out
	}
	if diff := cmp.Diff([]string{"a", "b"}, look(world.NodePool)); diff != "" {
		t.Errorf("nothing was told: -want +got\n%s", diff)
	}
	if got := look(world.Provisioner); len(got) > 0 {
		t.Errorf("%v are no Provisioners", got)
	}
	w := state.World()
	id := world.PoolID{Kind: world.NodePool, Name: "a"}
	c.shows(id, tally(w, id, Usage(w)[id]))
	if diff := cmp.Diff([]string{"b"}, look(world.NodePool)); diff != "" {
		t.Errorf("one was told: -want +got\n%s", diff)
	}
}

// A NodePool's status counts its nodes once all are known; until then it keeps what an earlier process wrote.
func TestNodesAreCountedOnceAllAreKnown(t *testing.T) {
	now := func() time.Time { return began }
	for name, tc := range map[string]struct {
		why     string
		sources []string // that have not delivered
		want    int64
	}{
		"Known":   {"It has one node.", nil, 1},
		"Unknown": {"Its nodes have not been read.", []string{"nodes"}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			seven := int64(7)
			p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: v1.NodePoolStatus{Nodes: &seven}}
			state := cluster.New(now, tc.sources...)
			state.SetNodePool(p)
			state.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{v1.LabelNodePool: "p"}}})
			store := apitest.New(t, now, p)
			r := &NodePools{Client: store, Cluster: state, Now: now, Classes: func(context.Context, v1.NodeClassReference) (Class, error) {
				return Class{Ready: metav1.ConditionTrue}, nil
			}}
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(p)}); err != nil {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
				t.Fatal(err)
			}
			if p.Status.Nodes == nil || *p.Status.Nodes != tc.want {
				t.Errorf("%s It shows %v nodes, want %d", tc.why, p.Status.Nodes, tc.want)
			}
		})
	}
}

// While its class cannot be looked for, a pool's status is left as it is.
func TestAClassThatCannotBeLookedFor(t *testing.T) {
	now, refused := func() time.Time { return began }, errors.New("the API server is busy")
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "g", Kind: "EC2NodeClass", Name: "n"}
	store := apitest.New(t, now, p)
	r := &NodePools{Client: store, Cluster: cluster.New(now), Now: now, Classes: func(context.Context, v1.NodeClassReference) (Class, error) { return Class{}, refused }}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(p)}); !errors.Is(err, refused) {
		t.Errorf("it ends with %v, want %v", err, refused)
	}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		t.Fatal(err)
	}
	if c := p.Conditions().Get(v1.ConditionNodeClassReady); c != nil {
		t.Errorf("of its class it is said %+v", c)
	}
}

// What a status shows is looked at after what it shows has changed.
func TestWhatIsLookedAtAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := func() time.Time { return began }
		state := cluster.New(now)
		state.SetNodePool(&v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}})
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
		defer queue.ShutDown()
		ctx, stop := context.WithCancel(t.Context())
		var c counter
		if err := c.changes(state, world.NodePool).Start(ctx, queue); err != nil {
			t.Fatal(err)
		}
		req, _ := queue.Get()
		queue.Done(req)
		if req.Name != "p" {
			t.Errorf("first it looks at %q", req.Name)
		}
		state.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{v1.LabelNodePool: "p"}}})
		if req, _ = queue.Get(); req.Name != "p" {
			t.Errorf("after a node came it looks at %q", req.Name)
		}
		stop()
	})
}

// The reason of a pool's last failure stays while machines come up in between.
func TestReasonOfTheLastFailure(t *testing.T) {
	h := Health{}.With(Outcome{Failed: true, Reason: "LaunchFailed", Message: "no capacity"}).With(Outcome{}).With(Outcome{Failed: true, Reason: "RegistrationFailed", Message: "it did not"}).With(Outcome{})
	if h.Reason != "RegistrationFailed" || h.Message != "it did not" {
		t.Errorf("it failed for %q, %q", h.Reason, h.Message)
	}
}
