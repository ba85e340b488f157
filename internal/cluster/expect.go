package cluster

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/written"
)

// skewed is from how many seconds on a date of the API server counts as one of
// another clock. What is less is how long answers take.
const skewed = 60

// dated is when a claim was made, by our clock as it stands: ages are counted by it,
// and where it is ahead of the API server's, what we have just made would be as old
// as the clocks are apart: expired, or of no use for long.
func dated(created, made, now int64) int64 {
	if made > now || made-created <= skewed {
		return created // also if our clock was set back since
	}
	return made
}

// SetClaim puts a claim that a watch shows into the cluster state, unless what we
// wrote ourselves is newer.
func (c *Cluster) SetClaim(o *v1.NodeClaim) { c.setClaim(o, true) }

// Wrote puts a claim that we have just written, as the API server answered,
// into the cluster state before any watch shows it.
func (c *Cluster) Wrote(o *v1.NodeClaim) { c.setClaim(o, false) }

func (c *Cluster) setClaim(o *v1.NodeClaim, watched bool) {
	var item world.Claim
	if broke := panics.Caught(func() { item = c.readClaim(o) }); broke != nil {
		c.Panics.Tell("claim", broke, "object", o.Name)
		c.setUnread(o)
		return
	}
	by := written.Write
	if watched {
		by = written.Watch
	}
	c.update(func() []Change {
		c.readable(o.Name)
		now := c.now()
		made, known := c.claims.Known(o)
		if !known && !watched && o.Status.ProviderID == "" {
			made = now.Unix()
		}
		if !c.claims.Set(o, made, by, now) {
			return nil
		}
		item.Created = dated(item.Created, made, now.Unix())
		c.put("claim "+o.Name, c.builder.SetClaim(item))
		c.bought(item, now.Unix())
		return []Change{{Kind: Claim, Name: o.Name}}
	})
}

// setUnread notes a claim that breaks our code. It stays in the cluster state as it was
// last read, if it was. What its machine has room for is not known, so its pods
// would be bought for again and again: its pool buys nothing until it is gone or can be read.
func (c *Cluster) setUnread(o *v1.NodeClaim) {
	pool := observe.PoolOf(o.Labels)
	c.update(func() []Change {
		if c.unread[o.Name] == pool {
			return nil
		}
		c.unread[o.Name] = pool
		return c.putAgain(pool)
	})
}

// readable says that a claim can be read, or is gone. The lock is held.
func (c *Cluster) readable(claim string) {
	if pool, ok := c.unread[claim]; ok {
		delete(c.unread, claim)
		c.putAgain(pool)
	}
}

// putAgain puts a pool into the cluster state whose readiness has changed. The lock is held.
func (c *Cluster) putAgain(id world.PoolID) []Change {
	p, ok := c.pools[id]
	if !ok {
		return nil
	}
	c.putPool(p)
	return []Change{{Kind: Pool, Name: id.Name}}
}

// blind says which claim keeps a pool from buying because it cannot be read; empty: none. The lock is held.
func (c *Cluster) blind(id world.PoolID) string {
	var names []string
	for name, of := range c.unread {
		if of == id {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("NodeClaim %q meets a bug in Tenon, which is in the controller's log: please report it; the pool buys again once the claim is deleted", slices.Min(names))
}

// DeleteClaim takes a claim that a watch shows to be gone out of the cluster state.
// A younger claim of the same name stays.
func (c *Cluster) DeleteClaim(name, uid string) {
	c.update(func() []Change {
		if !c.claims.Forget(name, uid) {
			return nil
		}
		c.readable(name)
		delete(c.purchases.done, name)
		c.builder.DeleteClaim(name)
		c.put("claim "+name, nil)
		return []Change{{Kind: Claim, Name: name}}
	})
}

// forget drops claims that we wrote and that no watch has shown for too long.
func (c *Cluster) forget(now time.Time) {
	for _, name := range c.claims.Lost(now) {
		c.builder.DeleteClaim(name)
		c.dirty = true
	}
}

// Deleting says that we have asked for the end of a claim: it counts as
// leaving before any watch shows it.
func (c *Cluster) Deleting(o *v1.NodeClaim) {
	gone := o.DeepCopy()
	now := metav1.NewTime(c.now())
	gone.DeletionTimestamp = &now
	// What the API server writes for the deletion is newer than what was deleted.
	gone.ResourceVersion = written.Next(o.ResourceVersion)
	c.setClaim(gone, false)
}
