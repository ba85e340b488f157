package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// template is the one template of a plan made from files: every pool buys from the same catalogue.
const template world.TemplateID = "catalogue"

// input is the objects of all documents, by what they are to a plan.
type input struct {
	builder    *world.Builder
	notes      []string
	pods       []*corev1.Pod
	sets       []*appsv1.DaemonSet
	podsFrom   []document
	nodes      []*corev1.Node
	nodesFrom  []document
	workloads  []workload
	csi        map[string]*storagev1.CSINode
	priorities map[string]*schedulingv1.PriorityClass
	volumes    volumes
	daemons    observe.Daemons
	pools      []world.Pool
	backoffs   []world.Backoff // of pools
	overlays   []observe.Overlay
	seen       map[string]document
	odd        oddities
	named      map[string]bool // nodes, by name
	devices    *devices        // nil: they are not planned for
	spaces     spaces
	runtimes   runtimeClasses
}

// load puts objects into a World that is being built, with devices if there is a place for them. What it leaves out it notes.
func load(b *world.Builder, objects []object, d *devices) (*input, error) {
	in := &input{
		builder: b, devices: d, csi: map[string]*storagev1.CSINode{},
		priorities: map[string]*schedulingv1.PriorityClass{}, seen: map[string]document{}, volumes: newVolumes(), daemons: observe.NewDaemons(), odd: newOddities(), named: map[string]bool{},
		spaces: newSpaces(), runtimes: runtimeClasses{},
	}
	skipped, unknown, read, classes := tally{}, tally{}, tally{}, tally{}
	for _, o := range objects {
		if o.v == nil || d == nil && allocates(o.v) {
			skipped.add(o.kind, o.from.where(), 1)
			if len(o.settings) > 0 {
				classes.add(strings.Join(o.settings, ", "), o.from.where(), 1)
			}
			continue
		}
		if o.as != "" {
			read.add(o.kind+" as "+o.as, o.from.where(), 1)
		}
		for _, field := range o.unknown {
			_, kind, _ := strings.Cut(o.kind, " ")
			unknown.add(kind+" "+field, o.from.where(), 1)
		}
		if err := in.sort(o); err != nil {
			return nil, fmt.Errorf("%s: %w", o.from.where(), err)
		}
	}
	in.notes = read.say(unknown.say(skipped.say(in.notes, leftOut), unknownField), readAs)
	in.notes = classes.say(in.notes, notOfClass)
	in.volumes.settle()
	in.readDaemons()
	if err := in.setNodes(); err != nil {
		return nil, err
	}
	err := in.setPods()
	if err == nil {
		err = in.setDaemons()
	}
	if err == nil {
		err = in.giveDevices()
	}
	in.notes = in.odd.say(in.notes)
	for _, class := range slices.Sorted(maps.Keys(in.volumes.unknown)) {
		what := fmt.Sprintf("StorageClass %q", class)
		if class == "" {
			what = "a default StorageClass"
		}
		in.notes = append(in.notes, what+" is not in the input: volumes still to be made of it are taken to be possible anywhere")
	}
	return in, err
}

// sort puts an object where it belongs. Two of one kind and name are refused.
func (in *input) sort(o object) error {
	if err := in.identify(o); err != nil {
		return err
	}
	if err := in.devices.set(o.v); err != nil {
		return err
	}
	switch v := o.v.(type) {
	case *corev1.Pod:
		in.pods, in.podsFrom = append(in.pods, v), append(in.podsFrom, o.from)
	case *corev1.Node:
		in.nodes, in.nodesFrom = append(in.nodes, v), append(in.nodesFrom, o.from)
	case *corev1.Namespace:
		return in.setNamespace(v)
	case *corev1.PersistentVolume:
		in.volumes.set(v)
	case *corev1.PersistentVolumeClaim:
		k := world.Key{Namespace: v.Namespace, Name: v.Name}
		in.volumes.pvcs[k], in.volumes.written[k] = observe.ReadVolumeClaim(bound(v)), v
	case *storagev1.StorageClass:
		in.volumes.classes[v.Name] = observe.ReadStorageClass(v)
		if v.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
			in.volumes.common = max(in.volumes.common, v.Name)
		}
	case *storagev1.CSINode:
		in.csi[v.Name] = v
	case *storagev1.CSIDriver:
		in.volumes.unattached[v.Name] = observe.Unattached(v)
	case *appsv1.DaemonSet:
		in.sets = append(in.sets, v)
	case *corev1.LimitRange:
		in.daemons.SetLimitRange(v)
	case *policyv1.PodDisruptionBudget:
		return in.builder.SetGuard(observe.Guard(v))
	case *schedulingv1.PriorityClass:
		in.priorities[v.Name] = v
	case *nodev1.RuntimeClass:
		in.runtimes[v.Name] = v
	case *karpv1.NodePool:
		in.pool(usable(observe.NodePool(v), append(v.Problems(), crdProblems(v)...)), v.Status.Conditions)
	case *v1alpha5.Provisioner:
		in.provisioner(v, o.from)
	case *v1alpha1.NodeOverlay:
		overlay, err := observe.NodeOverlay(v)
		if err != nil {
			return fmt.Errorf("NodeOverlay %s: %w", v.Name, err)
		}
		in.overlays = append(in.overlays, overlay)
	case *karpv1.NodeClaim:
		c := observe.Claim(v)
		c.Template = template
		return in.builder.SetClaim(c)
	default:
		if w, ok := workloadOf(o.v, o.from); ok {
			in.workloads = append(in.workloads, w)
		}
	}
	return nil
}

// identify refuses an object without a name, or with that of another, and puts it into the default namespace if it says none.
func (in *input) identify(o object) error {
	m, ok := o.v.(metav1.Object)
	if !ok {
		return nil
	}
	if m.GetName() == "" && m.GetGenerateName() == "" {
		return fmt.Errorf("%s: metadata.name is missing", o.kind)
	}
	if namespaced(o.v) && m.GetNamespace() == "" {
		m.SetNamespace("default")
	}
	if namespaced(o.v) {
		in.spaces.used[m.GetNamespace()] = true
	}
	id := o.id()
	if first, twice := in.seen[id]; twice && id != "" {
		return fmt.Errorf("%s is there twice: the first is %s", id, first.where())
	}
	in.seen[id] = o.from
	return nil
}

// provisioner adds a Provisioner as a pool.
func (in *input) provisioner(p *v1alpha5.Provisioner, from document) {
	in.pool(usable(observe.Provisioner(p), p.Problems()), p.Status.Conditions)
	if p.Spec.KubeletConfiguration != nil {
		in.notes = append(in.notes, notOfClass("spec.kubeletConfiguration", instance{first: from.where()}))
	}
}

// pool adds a pool, and the back-off that the controller wrote to its status.
func (in *input) pool(p world.Pool, conditions []metav1.Condition) {
	in.pools = append(in.pools, p)
	if p.NotReady != "" {
		in.notes = append(in.notes, fmt.Sprintf("%s %s buys nothing: %s", p.ID.Kind, p.ID.Name, p.NotReady))
	}
	for _, wrong := range hold.Unreadable(p.Disruption.Budgets) {
		in.notes = append(in.notes, fmt.Sprintf("%s %s: %s: until it is mended no node goes that budgets count", p.ID.Kind, p.ID.Name, wrong))
	}
	if b := observe.BackoffOf(conditions); b != nil {
		b.Pool = p.ID
		in.backoffs = append(in.backoffs, *b)
	}
}

// readDaemons reads the DaemonSets, once all RuntimeClasses are known.
func (in *input) readDaemons() {
	for _, d := range in.sets {
		d = d.DeepCopy()
		in.admit(&d.Spec.Template.Spec, d.Namespace+"/"+d.Name, 1)
		in.daemons.SetDaemonSet(d)
	}
}

// setDaemons sets the DaemonSets, as large as their newest pods are, or as
// admission would make them.
func (in *input) setDaemons() error {
	for _, k := range in.daemons.Keys() {
		if item, ok := in.daemons.Sized(k, in.builder.Pod); ok {
			if err := in.builder.SetDaemonSet(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// bound is a claim as its binding left it: a user who writes by hand which volume a
// claim has leaves out the annotation by which it is known to be bound.
func bound(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	if c.Spec.VolumeName != "" && (c.Status.Phase == "" || c.Status.Phase == corev1.ClaimBound) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, "pv.kubernetes.io/bind-completed", "yes")
	}
	return c
}

// usable is the pool as it would be if its class were there and ready, of which
// a file says nothing. What is wrong with the pool itself keeps it from being used.
func usable(p world.Pool, wrong field.ErrorList) world.Pool {
	var say []string
	for _, err := range wrong {
		if !strings.HasPrefix(err.Field, "spec.provider") {
			say = append(say, err.Error()+meant(err))
		}
	}
	p.NotReady = strings.Join(say, "; ")
	return p
}

// id names an object among those of all kinds; empty if it has no name. One
// that says no namespace is in default.
func (o object) id() string {
	m, ok := o.v.(metav1.Object)
	switch {
	case !ok || m.GetName() == "":
		return ""
	case namespaced(o.v):
		return fmt.Sprintf("%s %s/%s", o.kind, cmp.Or(m.GetNamespace(), "default"), m.GetName())
	}
	return o.kind + " " + m.GetName()
}

// namespaced reports whether objects of the kind live in a namespace.
func namespaced(v any) bool {
	switch v.(type) {
	case *corev1.Node, *corev1.Namespace, *corev1.PersistentVolume, *storagev1.StorageClass, *storagev1.CSINode, *storagev1.CSIDriver,
		*schedulingv1.PriorityClass, *nodev1.RuntimeClass, *resourcev1.DeviceClass, *resourcev1.ResourceSlice, *karpv1.NodePool, *karpv1.NodeClaim, *v1alpha1.NodeOverlay, *v1alpha5.Provisioner:
		return false
	}
	return true
}

// sell sets the pools and what they may buy. A pool for which overlays correct
// what is known has a catalogue of its own.
func (in *input) sell(c world.Catalog) error {
	if err := in.builder.SetCatalog(c); err != nil {
		return err
	}
	var views []observe.View
	for _, p := range in.pools {
		p.Template = template
		if err := in.builder.SetPool(p); err != nil {
			return err
		}
		views = append(views, observe.View{Pool: p, Catalog: c})
	}
	if err := in.hold(template); err != nil {
		return err
	}
	notes, err := setLaid(in.builder, views, in.overlays)
	in.notes = append(in.notes, notes...)
	return err
}

// setLaid gives pools the catalogues that overlays make of theirs, and says which overlays are left out.
func setLaid(b *world.Builder, views []observe.View, overlays []observe.Overlay) (notes []string, err error) {
	changed, against := observe.Lay(views, overlays)
	for _, name := range slices.Sorted(maps.Keys(against)) {
		notes = append(notes, fmt.Sprintf("NodeOverlay %q is left out: it contradicts %q, which has the same weight", name, against[name]))
	}
	for _, v := range changed {
		v.Catalog.Template = v.Pool.Template.For(v.Pool.ID)
		if err := b.SetCatalog(v.Catalog); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// hold sets the back-offs of pools that buy from template t.
func (in *input) hold(t world.TemplateID) error {
	for _, b := range in.backoffs {
		b.Template = t
		if err := in.builder.SetBackoff(b); err != nil {
			return err
		}
	}
	return nil
}

// setNodes sets the nodes. A node whose file says nothing of its conditions is taken to be ready.
func (in *input) setNodes() error {
	for i, n := range in.nodes {
		in.named[n.Name] = true
		v := observe.Node(n, in.csi[n.Name])
		if len(n.Status.Conditions) == 0 {
			v.Ready = true
		}
		if len(v.Allocatable) == 0 {
			v.Allocatable = v.Capacity
		}
		if err := in.builder.SetNode(v); err != nil {
			return fmt.Errorf("%s: %w", in.nodesFrom[i].where(), err)
		}
		in.devices.node(v)
	}
	return nil
}

// maxPlannedPods is how many pods a plan is made for. No cluster has as many: a larger number is mistyped.
const maxPlannedPods = 2_000_000

// setPods sets the pods of the input and those that its workloads stand for.
func (in *input) setPods() error {
	owned := make([]metav1.ObjectMeta, len(in.pods))
	for i, p := range in.pods {
		owned[i] = p.ObjectMeta
		if p.Name == "" {
			p.Name = fmt.Sprintf("%s%d", p.GenerateName, i)
		}
		if p.UID == "" { // no API server has seen it
			p = p.DeepCopy()
			in.admit(&p.Spec, p.Namespace+"/"+p.Name, 1)
			p = in.daemons.Admitted(p)
		}
		in.prioritise(p, 1)
		in.volumes.own(p, nil)
		if err := in.setPod(p, 1); err != nil {
			return fmt.Errorf("%s: %w", in.podsFrom[i].where(), err)
		}
	}
	room := maxPlannedPods - len(in.pods)
	if err := endless(in.workloads); err != nil {
		return err
	}
	stand := expandable(in.workloads, owned)
	in.notes = append(in.notes, christen(stand, in.pods)...)
	for _, w := range stand {
		switch room -= w.replicas; {
		case w.replicas < 0:
			return fmt.Errorf("%s: %s %s: %s is negative", w.from.where(), w.kind, w.meta.Name, w.field())
		case room < 0:
			return fmt.Errorf("%s: %s %s: %s is %d, and with all others that is more than the %d pods that fit into one plan", w.from.where(), w.kind, w.meta.Name, w.field(), w.replicas, maxPlannedPods)
		}
		if err := in.expand(w); err != nil {
			return fmt.Errorf("%s: %s %s: %w", w.from.where(), w.kind, w.meta.Name, err)
		}
	}
	return nil
}

// expand sets the pods of a workload: as one and its siblings where they differ by name only.
func (in *input) expand(w workload) error {
	if w.replicas == 0 {
		return nil
	}
	in.admit(&w.template.Spec, w.meta.Namespace+"/"+w.meta.Name, w.replicas)
	w.template.Spec = in.daemons.Admitted(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.meta.Namespace}, Spec: w.template.Spec}).Spec
	if !w.unlike() {
		p := w.pod(0)
		in.prioritise(&p, w.replicas)
		return in.setPod(&p, w.replicas)
	}
	for i := range w.replicas {
		p := w.pod(i)
		in.prioritise(&p, 1)
		in.volumes.own(&p, w.disks)
		if err := in.setPod(&p, 1); err != nil {
			return err
		}
	}
	return nil
}

// setPod sets a pod, and for a workload its siblings, which differ by name
// only. A pod without a node counts as one that the scheduler has given up on.
func (in *input) setPod(p *corev1.Pod, replicas int) error {
	v := in.volumes.bind(p)
	if v.Node == "" {
		v.Waiting = !v.Gated
	}
	in.daemons.SetPod(&v)
	if v.DaemonSet != "" && v.Node == "" {
		if !slices.Contains(in.daemons.Of(v.Namespace), world.Key{Namespace: v.Namespace, Name: v.DaemonSet}) {
			in.odd.orphaned.add(v.DaemonSet, v.Key.String(), replicas)
		}
		return nil // a daemon set speaks for its own pods
	}
	in.odd.look(&v, replicas, in.named)
	in.spaces.selects(&v)
	if err := in.devices.wish(&v, p); err != nil {
		return err
	}
	for i := range replicas {
		if i > 0 || replicas > 1 {
			v.Name = fmt.Sprintf("%s-%d", p.Name[:len(p.Name)-len("-0")], i)
		}
		if err := in.builder.SetPod(v); err != nil {
			return err
		}
	}
	return nil
}

// prioritise fills in the priority that the API server would have, in a pod of which there are n.
func (in *input) prioritise(p *corev1.Pod, n int) {
	s := &p.Spec
	if s.Priority != nil {
		return
	}
	var class *schedulingv1.PriorityClass
	if s.PriorityClassName != "" {
		class = in.priorities[s.PriorityClassName]
	} else {
		for _, c := range in.priorities {
			if c.GlobalDefault && (class == nil || cmp.Or(cmp.Compare(c.Value, class.Value), cmp.Compare(c.Name, class.Name)) < 0) {
				class = c
			}
		}
	}
	builtin := map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
	switch {
	case class != nil:
		s.Priority, s.PreemptionPolicy = &class.Value, class.PreemptionPolicy
	case builtin[s.PriorityClassName] != 0:
		v := builtin[s.PriorityClassName]
		s.Priority = &v
	case s.PriorityClassName != "":
		in.odd.unranked.add(s.PriorityClassName, p.Namespace+"/"+p.Name, n)
	}
}
