package kubelet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Nodes is what a fleet does with the Nodes of the cluster; client-go's node client does it.
type Nodes interface {
	Create(context.Context, *corev1.Node, metav1.CreateOptions) (*corev1.Node, error)
	Get(context.Context, string, metav1.GetOptions) (*corev1.Node, error)
	List(context.Context, metav1.ListOptions) (*corev1.NodeList, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, o metav1.PatchOptions, subresources ...string) (*corev1.Node, error)
}

// Options are how a fleet works.
type Options struct {
	Nodes  Nodes
	Delays Delays
	// Endpoint is the API server that user data must name for a machine to reach it; empty: every one is ours.
	Endpoint string
	// Say receives what happens to the machines; may be nil.
	Say func(machine, what string)
}

// A Fleet is the machines of one simulated cloud. Its methods may be called side by side.
type Fleet struct {
	o       Options
	ctx     context.Context // of the machines' lives, ended by Close
	end     context.CancelFunc
	running sync.WaitGroup
	slots   chan struct{} // calls to the API server at a time

	mu       sync.Mutex
	machines map[string]*machine
}

// machine is a Machine and what became of it.
type machine struct {
	Machine
	status Status
	die    context.CancelFunc // ends what still goes on for it
}

// New returns a fleet without machines.
func New(o Options) *Fleet {
	if o.Say == nil {
		o.Say = func(string, string) {}
	}
	ctx, end := context.WithCancel(context.Background())
	return &Fleet{o: o, ctx: ctx, end: end, slots: make(chan struct{}, 32), machines: map[string]*machine{}}
}

// Close ends the play and waits for it. Nodes that are there stay there.
func (f *Fleet) Close() {
	f.end()
	f.running.Wait()
}

// ErrUnknown says that the fleet has no such machine.
var ErrUnknown = errors.New("no such machine")

// Boot starts m and returns at once.
func (f *Fleet) Boot(m Machine) error {
	ctx, die := context.WithCancel(f.ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.machines[m.ID]; ok {
		die()
		return fmt.Errorf("boot %s: there is a machine of that name", m.ID)
	}
	f.machines[m.ID] = &machine{Machine: m, die: die, status: Status{
		ID: m.ID, Node: m.NodeName, InstanceType: m.InstanceType, Zone: m.Zone, State: Booting,
	}}
	f.running.Go(func() { f.live(ctx, m) })
	f.after(ctx, m.Faults.DiesAfter, func() { _ = f.Die(f.ctx, m.ID) })
	f.after(ctx, m.Faults.LosesNetworkAfter, func() { _ = f.LoseNetwork(f.ctx, m.ID) })
	return nil
}

// after does something to a machine later, unless it is 0 or the machine has died by then.
func (f *Fleet) after(ctx context.Context, d time.Duration, do func()) {
	if d == 0 {
		return
	}
	f.running.Go(func() {
		if sleep(ctx, d) {
			do()
		}
	})
}

// sleep returns whether d went by before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// live plays m from its start until nothing is left to do for it.
func (f *Fleet) live(ctx context.Context, m Machine) {
	if m.Faults.NeverBoots {
		f.stuck(m, "it does not boot")
		return
	}
	if !sleep(ctx, f.o.Delays.Boot) {
		return
	}
	node, err := f.join(m)
	if err != nil {
		f.stuck(m, err.Error())
		return
	}
	slow := f.o.Delays.Ready > 0
	if slow || m.Faults.NeverReady {
		node.Annotations[NotReadyAnnotation] = "true"
	}
	if !f.until(ctx, m, func() error { return f.register(ctx, m, node) }) {
		if f.ctx.Err() == nil {
			f.hush(m, "dead") // the call may have been on its way when it died
		}
		return
	}
	if slow && !m.Faults.NeverReady {
		if !sleep(ctx, f.o.Delays.Ready) || !f.until(ctx, m, func() error {
			return f.annotate(ctx, m.NodeName, map[string]any{NotReadyAnnotation: nil})
		}) {
			return
		}
	}
	devices, err := devicePatch(m)
	if err != nil || devices == nil {
		return
	}
	if sleep(ctx, f.o.Delays.Devices) {
		f.until(ctx, m, func() error {
			_, err := f.o.Nodes.Patch(ctx, m.NodeName, types.MergePatchType, devices, metav1.PatchOptions{}, "status")
			return err
		})
	}
}

// join returns the Node that m will register, or why it never will.
func (f *Fleet) join(m Machine) (*corev1.Node, error) {
	if m.Faults.NeverRegisters {
		return nil, errors.New("its kubelet does not start")
	}
	s, err := Parse(m.UserData)
	if err != nil {
		return nil, err
	}
	if f.o.Endpoint != "" && s.Endpoint != "" && s.Endpoint != f.o.Endpoint {
		return nil, fmt.Errorf("it calls the API server %s and gets no answer there", s.Endpoint)
	}
	return Node(m, s)
}

func (f *Fleet) stuck(m Machine, why string) {
	if f.set(m.ID, Stuck, why) {
		f.o.Say(m.ID, "never joins: "+why)
	}
}

// until calls do, as a kubelet would, until it works. It reports false when the machine dies before.
func (f *Fleet) until(ctx context.Context, m Machine, do func() error) bool {
	for pause := 200 * time.Millisecond; ; pause = min(2*pause, 7*time.Second) {
		select {
		case f.slots <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		err := do()
		<-f.slots
		switch {
		case err == nil:
			return true
		case apierrors.IsNotFound(err):
			return false // its Node was deleted; a kubelet does not make another
		case ctx.Err() == nil:
			f.o.Say(m.ID, err.Error())
		}
		if !sleep(ctx, pause) {
			return false
		}
	}
}

// register makes the Node of m. A Node of that machine which is there already is as good.
func (f *Fleet) register(ctx context.Context, m Machine, node *corev1.Node) error {
	_, err := f.o.Nodes.Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		there, err := f.o.Nodes.Get(ctx, node.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if there.Annotations[MachineAnnotation] != m.ID {
			return fmt.Errorf("register node %s: there is one of another machine", node.Name)
		}
	} else if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	if f.set(m.ID, Running, "") {
		f.o.Say(m.ID, "joined as node "+node.Name)
		return nil
	}
	if f.state(m.ID) != Running {
		f.hush(m, "network") // it was cut off before
	}
	return nil
}

func (f *Fleet) state(id string) State {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m, ok := f.machines[id]; ok {
		return m.status.State
	}
	return Dead
}

// hush silences the Node of m, if there is one.
func (f *Fleet) hush(m Machine, why string) {
	if err := f.silence(f.ctx, m.NodeName, why); err != nil && !apierrors.IsNotFound(err) {
		f.o.Say(m.ID, err.Error())
	}
}

// set moves a machine that is booting to another state and reports whether it was booting.
func (f *Fleet) set(id string, to State, why string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, ok := f.machines[id]
	if !ok || m.status.State != Booting {
		return false
	}
	m.status.State, m.status.Why = to, why
	return true
}

// devicePatch is what device plugins add to the status, or nil.
func devicePatch(m Machine) ([]byte, error) {
	devices := corev1.ResourceList{}
	for name, q := range m.Capacity {
		if isDevice(name) {
			devices[name] = q
		}
	}
	if len(devices) == 0 {
		return nil, nil
	}
	return json.Marshal(map[string]any{"status": map[string]any{"capacity": devices, "allocatable": devices}})
}

// Die ends a machine as a power failure would: it sends no word of it. Its Node stays, and falls silent.
func (f *Fleet) Die(ctx context.Context, id string) error { return f.quiet(ctx, id, Dead, "is off") }

// LoseNetwork cuts a machine off. Its Node falls silent until Recover.
func (f *Fleet) LoseNetwork(ctx context.Context, id string) error {
	return f.quiet(ctx, id, Lost, "lost its network")
}

func (f *Fleet) quiet(ctx context.Context, id string, to State, what string) error {
	f.mu.Lock()
	m, ok := f.machines[id]
	if !ok {
		f.mu.Unlock()
		return fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	if m.status.State == Dead || m.status.State == to {
		f.mu.Unlock()
		return nil
	}
	m.status.State, m.status.Why = to, ""
	if to == Dead {
		m.die()
	}
	f.mu.Unlock()
	f.o.Say(id, what)
	err := f.silence(ctx, m.NodeName, map[State]string{Dead: "dead", Lost: "network"}[to])
	if apierrors.IsNotFound(err) {
		f.NodeGone(m.NodeName)
		return nil
	}
	return err
}

// silence stops the heartbeats of a Node.
func (f *Fleet) silence(ctx context.Context, node, why string) error {
	return f.annotate(ctx, node, map[string]any{HeartbeatAnnotation: nil, SilentAnnotation: why})
}

// Recover gives a machine its network back.
func (f *Fleet) Recover(ctx context.Context, id string) error {
	f.mu.Lock()
	m, ok := f.machines[id]
	if !ok {
		f.mu.Unlock()
		return fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	if m.status.State != Lost {
		state := m.status.State
		f.mu.Unlock()
		return fmt.Errorf("recover %s: its network is not lost, it is %s", id, state)
	}
	m.status.State = Running
	node := m.NodeName
	f.mu.Unlock()
	f.o.Say(id, "has its network back")
	err := f.annotate(ctx, node, map[string]any{HeartbeatAnnotation: "fake", SilentAnnotation: nil})
	if apierrors.IsNotFound(err) {
		return nil // it was cut off before it could join, or its Node was deleted
	}
	return err
}

// NodeGone informs the fleet that a Node was deleted. It forgets the machine, if that is dead: nothing is left of it.
func (f *Fleet) NodeGone(node string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, m := range f.machines {
		if m.NodeName == node && m.status.State == Dead {
			delete(f.machines, id)
		}
	}
}

func (f *Fleet) annotate(ctx context.Context, node string, annotations map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	_, err = f.o.Nodes.Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// Adopt takes over the machines whose Nodes an earlier fleet left in the cluster.
func (f *Fleet) Adopt(ctx context.Context) (int, error) {
	nodes, err := f.o.Nodes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("adopt machines: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, node := range nodes.Items {
		id := node.Annotations[MachineAnnotation]
		if _, there := f.machines[id]; id == "" || there {
			continue
		}
		state := Running
		switch node.Annotations[SilentAnnotation] {
		case "dead":
			state = Dead
		case "network":
			state = Lost
		}
		_, die := context.WithCancel(f.ctx)
		f.machines[id] = &machine{
			Machine: Machine{
				ID: id, ProviderID: node.Spec.ProviderID, NodeName: node.Name, Capacity: node.Status.Capacity,
				InstanceType: node.Labels[corev1.LabelInstanceTypeStable], Zone: node.Labels[corev1.LabelTopologyZone],
			},
			die: die,
			status: Status{
				ID: id, Node: node.Name, State: state,
				InstanceType: node.Labels[corev1.LabelInstanceTypeStable], Zone: node.Labels[corev1.LabelTopologyZone],
			},
		}
		n++
	}
	return n, nil
}

// Find returns the ID of the machine that has this ID, provider ID or Node.
func (f *Fleet) Find(name string) (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, m := range f.machines {
		if name == id || strings.TrimPrefix(name, "node/") == m.NodeName || name == m.ProviderID { // kubectl -o name says node/
			return id, true
		}
	}
	return "", false
}

// Machines returns all machines, by their IDs.
func (f *Fleet) Machines() []Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]Status, 0, len(f.machines))
	for _, m := range f.machines {
		out = append(out, m.status)
	}
	slices.SortFunc(out, func(a, b Status) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
