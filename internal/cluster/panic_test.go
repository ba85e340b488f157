package cluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/panics"
)

// telling returns a cluster state and what its log says.
func telling(sources ...string) (*cluster.Cluster, func() string) {
	var said []string
	c := cluster.New(clock.Wall, sources...)
	c.Panics = panics.Teller{Log: funcr.New(func(_, args string) { said = append(said, args) }, funcr.Options{})}
	return c, func() string { return strings.Join(said, "\n") }
}

// A pod that breaks what reads it is held where it is, and does not look as if it
// were not there: its node would be empty. Others are read as ever.
func TestAPodThatCannotBeReadStaysWhereItIs(t *testing.T) {
	c, said := telling()
	c.BreakPods("bad")
	pod := func(name, node string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "u", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", Controller: new(true)}}},
			Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
	}
	c.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	c.SetPod(pod("bad", "n"))
	c.SetPod(pod("good", "n"))
	w := c.World()
	if got := len(w.Place("n").Pods); got != 2 {
		t.Fatalf("the node has %d pods, want 2", got)
	}
	bad := w.Pod(world.Key{Namespace: "default", Name: "bad"})
	if !bad.Forbids(time.Now().Unix()) || len(bad.Problems) == 0 || bad.UID != "u" {
		t.Errorf("the pod may be moved: %+v", bad)
	}
	if good := w.Pod(world.Key{Namespace: "default", Name: "good"}); good.Forbids(time.Now().Unix()) || len(good.Problems) > 0 {
		t.Errorf("the other pod is held too: %+v", good)
	}
	if !strings.Contains(said(), "default/bad") {
		t.Errorf("the log does not name the pod: %s", said())
	}
	c.DeletePod(world.Key{Namespace: "default", Name: "bad"})
	if got := len(c.World().Place("n").Pods); got != 1 {
		t.Errorf("after it is deleted the node has %d pods, want 1", got)
	}
}

// So is a pod that no World can hold.
func TestAPodThatIsRefusedStaysWhereItIs(t *testing.T) {
	c, _ := telling()
	c.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	c.SetPod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "odd"},
		Spec: corev1.PodSpec{NodeName: "n", Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}},
		}}},
	})
	if len(c.Refused()) == 0 {
		t.Skip("no such pod is refused any more")
	}
	pods := c.World().Place("n").Pods
	if len(pods) != 1 || !pods[0].Forbids(time.Now().Unix()) || len(pods[0].Problems) == 0 {
		t.Errorf("on the node: %+v", pods)
	}
}

// The pool of a claim that cannot be read buys nothing: what the claim's machine
// has room for is not known, and its pods would be bought for once more.
func TestThePoolOfAnUnreadableClaimWaits(t *testing.T) {
	c, said := telling()
	mend := c.BreakClaims("bad")
	claim := func(name string) *v1.NodeClaim {
		return &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u", ResourceVersion: "1", Labels: map[string]string{v1.LabelNodePool: "a"}}}
	}
	notReady := func(pool string) string {
		return c.World().Pool(world.PoolID{Kind: world.NodePool, Name: pool}).NotReady
	}
	pools := map[string]*v1.NodePool{}
	for _, name := range []string{"a", "b"} {
		p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
		pools[name] = p
		c.SetNodePool(p)
	}
	before := notReady("a")
	c.Wrote(claim("bad"))
	c.SetClaim(claim("good"))
	if why := notReady("a"); !strings.Contains(why, "bad") || why == before {
		t.Errorf("the pool says %q, and it said %q before", why, before)
	}
	if why := notReady("b"); why != before {
		t.Errorf("another pool says %q", why)
	}
	if c.World().Place("good") == nil {
		t.Error("another claim of the pool is not in the cluster state")
	}
	if !strings.Contains(said(), "bad") {
		t.Errorf("the log does not name the claim: %s", said())
	}
	mend()
	c.SetClaim(claim("bad"))
	if why := notReady("a"); why != before {
		t.Errorf("the claim is read, and its pool says %q", why)
	}
	c.BreakClaims("worse")
	c.SetClaim(claim("worse"))
	c.DeleteClaim("worse", "u")
	if why := notReady("a"); why != before {
		t.Errorf("the claim is gone, and its pool says %q", why)
	}
}

// An object that breaks a watch is told of, and the watch goes on: with what comes
// after, with the rest of the list, and with what has gone.
func TestAFeedOutlivesAnObject(t *testing.T) {
	c, said := telling("pods")
	f := cluster.BreakingFeed(c, "b")
	all := []any{feedPod(0), feedPod(1), feedPod(2)}
	if err := f.Replace(all, "1"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "c"}, fedPods(c)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if ok, _ := c.Synced(); !ok {
		t.Error("the cluster state waits for a list that has come")
	}
	for _, do := range []func(any) error{f.Update, f.Delete} {
		if err := do(feedPod(1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Replace([]any{feedPod(2)}, "2"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c"}, fedPods(c)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !strings.Contains(said(), "default/b") {
		t.Errorf("the log does not name the pod: %s", said())
	}
}

// So does the handler of an informer.
func TestAnInformerOutlivesAnObject(t *testing.T) {
	c, said := telling("nodes")
	var seen []string
	do := func(o any) {
		n, ok := o.(*corev1.Node)
		if !ok || n.Name == "bad" {
			panic("a bug in what reads nodes")
		}
		seen = append(seen, n.Name)
	}
	h := c.Handlers("nodes", do, do)
	node := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	h.OnAdd(node("bad"), true)
	h.OnUpdate(node("bad"), node("bad"))
	h.OnDelete(node("bad"))
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "gone"})
	h.OnAdd(node("a"), true)
	h.OnUpdate(node("b"), node("b"))
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "c", Obj: node("c")})
	if want := []string{"a", "b", "c"}; !slices.Equal(seen, want) {
		t.Errorf("handled %v, want %v", seen, want)
	}
	if !strings.Contains(said(), "bad") {
		t.Errorf("the log does not name the node: %s", said())
	}
}

// A listener that breaks keeps neither the others nor later changes from being heard.
func TestAListenerThatBreaksIsAlone(t *testing.T) {
	c, said := telling()
	var heard []string
	c.Listen(func(ch cluster.Change) {
		if ch.Name == "a" {
			panic("a bug in a listener")
		}
	})
	c.Listen(func(ch cluster.Change) { heard = append(heard, ch.Name) })
	for _, name := range []string{"a", "b"} {
		c.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	if want := []string{"a", "b"}; !slices.Equal(heard, want) {
		t.Errorf("heard of %v, want %v", heard, want)
	}
	if said() == "" {
		t.Error("the log does not say so")
	}
}

// What panics while the cluster state changes does not leave it locked.
func TestAPanicLeavesTheStateOpen(t *testing.T) {
	c, _ := telling()
	if broke := panics.Caught(c.Break); broke == nil {
		t.Fatal("nothing broke")
	}
	done := make(chan struct{})
	go func() { defer close(done); c.World() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the cluster state is locked for good")
	}
}
