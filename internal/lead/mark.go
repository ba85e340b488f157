package lead

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/tenon-sh/tenon/internal/clock"
)

// Mark is the Lease that every installation on a cluster knows, wherever it is
// and whatever its own Lease is called. Its holder is an installation.
var Mark = types.NamespacedName{Namespace: metav1.NamespaceSystem, Name: "karpenter-cluster-leader"}

// karpenters are the Leases of Karpenter where its guides install it. Karpenter
// does not know the mark, so its Lease is looked at. Others are not: a user who may
// write Leases in some namespace could stop this controller by making one.
var karpenters = []types.NamespacedName{
	{Namespace: metav1.NamespaceSystem, Name: "karpenter-leader-election"},
	{Namespace: "karpenter", Name: "karpenter-leader-election"},
}

// markPace is that of the mark: between installations nothing has to be quick.
var markPace = pace{15 * time.Second, 10 * time.Second, 3 * time.Second}

// longAgo is when a Lease that is seen first has certainly ended, whatever the clocks of computers say.
const longAgo = time.Hour

// takenError says that something else acts on the cluster.
type takenError struct{ why string }

func (e takenError) Error() string { return e.why }

func isTaken(err error) bool {
	_, ok := errors.AsType[takenError](err)
	return ok
}

// sight is how a Lease was seen.
type sight struct {
	version string
	since   time.Time // when it was first seen like this
}

// mark holds the Lease of the cluster for an installation. Of the replicas of
// one only that with the installation's own Lease asks for it.
type mark struct {
	leases       coordinationv1client.LeasesGetter
	installation types.NamespacedName
	now          clock.Now
	dates        clock.Now // what time it is for others

	lease   *coordinationv1.Lease // as it was written last
	renewed time.Time             // when that was asked for
	tried   time.Time             // when it was asked for last, in vain
	refused error                 // what came of that
	others  map[types.NamespacedName]*sight
}

// hold takes or renews the mark, if that is due. leads says that this process acts already.
func (m *mark) hold(ctx context.Context, leads bool) error {
	asked := m.now()
	if m.lease != nil && asked.Sub(m.renewed) < markPace.every && !asked.Before(m.renewed) {
		return nil
	}
	if m.refused != nil && asked.Sub(m.tried) < time.Second && !asked.Before(m.tried) {
		return m.refused
	}
	m.tried, m.refused = asked, m.ask(ctx, asked, leads)
	return m.refused
}

// ask takes or renews the mark.
func (m *mark) ask(ctx context.Context, asked time.Time, leads bool) error {
	for _, name := range karpenters {
		if name == m.installation {
			continue // whatever holds that excludes us by it
		}
		if err := m.look(ctx, name); err != nil {
			return err
		}
	}
	if m.lease != nil {
		next := m.filled(m.lease)
		written, err := m.leases.Leases(Mark.Namespace).Update(ctx, next, metav1.UpdateOptions{})
		if err == nil {
			m.lease, m.renewed = written, asked
			return nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return denied(err)
		}
		m.lease = nil
	}
	return m.take(ctx, asked, leads)
}

// take takes the mark from where it is.
func (m *mark) take(ctx context.Context, asked time.Time, leads bool) error {
	api := m.leases.Leases(Mark.Namespace)
	found, err := api.Get(ctx, Mark.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if s := m.others[Mark]; s != nil && !leads && m.now().Sub(s.since) < markPace.lease {
			return takenError{fmt.Sprintf("the Lease %s has just been deleted; its holder has some seconds to make it again", Mark)}
		}
		empty := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: Mark.Namespace, Name: Mark.Name}}
		written, err := api.Create(ctx, m.filled(empty), metav1.CreateOptions{})
		if err != nil {
			return denied(err)
		}
		m.lease, m.renewed = written, asked
		return nil
	}
	if err != nil {
		return denied(err)
	}
	holder := deref(found.Spec.HolderIdentity)
	if holder != m.installation.String() && (leads || holder != "" && m.lives(Mark, found)) {
		if holder == "" {
			holder = "of another installation"
		}
		return takenError{fmt.Sprintf("the controller with the Lease %s acts on this cluster (it holds the Lease %s), and two must not: uninstall one of them, or let them share a namespace and a Lease", holder, Mark)}
	}
	written, err := api.Update(ctx, m.filled(found), metav1.UpdateOptions{})
	if err != nil {
		return denied(err)
	}
	m.lease, m.renewed = written, asked
	return nil
}

// free returns nil unless the mark says that something acts.
func (m *mark) free(ctx context.Context) error {
	found, err := m.leases.Leases(Mark.Namespace).Get(ctx, Mark.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return denied(err)
	}
	if holder := deref(found.Spec.HolderIdentity); holder != "" && m.lives(Mark, found) {
		return takenError{fmt.Sprintf("the controller with the Lease %s acts on this cluster by what the Lease %s says; that is waited for", holder, Mark)}
	}
	return nil
}

// look reports whether Karpenter acts by a Lease that is not ours.
func (m *mark) look(ctx context.Context, name types.NamespacedName) error {
	found, err := m.leases.Leases(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		delete(m.others, name)
		return nil
	}
	if err != nil {
		return denied(err)
	}
	holder := deref(found.Spec.HolderIdentity)
	if holder == "" || strings.Contains(holder, ours) || !m.lives(name, found) {
		return nil
	}
	return takenError{fmt.Sprintf("Karpenter acts on this cluster (%s holds the Lease %s), and two must not: uninstall it, or scale it to 0", holder, name)}
}

// lives reports whether a Lease may still be held: it has changed within its
// duration, by our own clock. One that is seen first counts as held.
func (m *mark) lives(name types.NamespacedName, l *coordinationv1.Lease) bool {
	now := m.now()
	s := m.others[name]
	if s == nil || s.version != l.ResourceVersion {
		first := s == nil
		s = &sight{l.ResourceVersion, now}
		m.others[name] = s
		if first && l.Spec.RenewTime != nil && m.dates().Sub(l.Spec.RenewTime.Time) > longAgo {
			s.since = now.Add(-longAgo)
		}
	}
	length := markPace.lease
	if l.Spec.LeaseDurationSeconds != nil {
		length = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	}
	return now.Sub(s.since) < length
}

// filled is the mark as this installation holds it.
func (m *mark) filled(l *coordinationv1.Lease) *coordinationv1.Lease {
	next := l.DeepCopy()
	holder, seconds, at := m.installation.String(), int32(markPace.lease/time.Second), metav1.NewMicroTime(m.dates())
	if deref(next.Spec.HolderIdentity) != holder {
		changes := int32(0)
		if next.Spec.LeaseTransitions != nil {
			changes = *next.Spec.LeaseTransitions
		}
		changes++
		next.Spec.AcquireTime, next.Spec.LeaseTransitions = &at, &changes
	}
	next.Spec.HolderIdentity, next.Spec.LeaseDurationSeconds, next.Spec.RenewTime = &holder, &seconds, &at
	return next
}

// release lets the mark go, if it is held.
func (m *mark) release(ctx context.Context) error {
	if m.lease == nil {
		return nil
	}
	next, none := m.lease.DeepCopy(), ""
	next.Spec.HolderIdentity = &none
	m.lease = nil
	_, err := m.leases.Leases(Mark.Namespace).Update(ctx, next, metav1.UpdateOptions{})
	return err
}

// denied says what to do about what the API server refuses.
func denied(err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("whether another controller acts on this cluster cannot be seen: %w: grant the ServiceAccount to create Leases in %s, to get and update %q there, and to get Leases named %q everywhere, as the chart does",
			err, Mark.Namespace, Mark.Name, karpenters[0].Name)
	}
	return fmt.Errorf("see whether another controller acts on this cluster: %w", err)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
