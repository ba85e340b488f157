package cluster

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/observe"
)

// patience is how long the picture shows our own write of a claim although no
// watch does. The object may have come and gone while no watch was open.
const patience = 30 * time.Second

// expected is a claim and how it came into the picture.
type expected struct {
	version uint64    // of the newest object seen or written
	uid     string    // to tell a new object of the same name from an old one
	watched bool      // a watch has shown it
	until   time.Time // when an unconfirmed write is given up
}

// SetClaim puts a claim that a watch shows into the picture, unless what we
// wrote ourselves is newer.
func (c *Cluster) SetClaim(o *v1.NodeClaim) { c.setClaim(o, true) }

// Wrote puts a claim that we have just written, as the API server answered,
// into the picture before any watch shows it.
func (c *Cluster) Wrote(o *v1.NodeClaim) { c.setClaim(o, false) }

func (c *Cluster) setClaim(o *v1.NodeClaim, watched bool) {
	item := observe.Claim(o)
	version := versionOf(o.ResourceVersion)
	c.update(func() []Change {
		e, known := c.claims[o.Name]
		if known && e.uid == string(o.UID) && version < e.version {
			e.watched = e.watched || watched
			c.claims[o.Name] = e
			return nil
		}
		if known && e.uid == string(o.UID) {
			watched = watched || e.watched
		}
		c.claims[o.Name] = expected{version: version, uid: string(o.UID), watched: watched, until: c.now().Add(patience)}
		c.put("claim "+o.Name, c.builder.SetClaim(item))
		c.bought(item, c.now().Unix())
		return []Change{{Kind: Claim, Name: o.Name}}
	})
}

// DeleteClaim takes a claim that a watch shows to be gone out of the picture.
// A younger claim of the same name stays.
func (c *Cluster) DeleteClaim(name, uid string) {
	c.update(func() []Change {
		if e, ok := c.claims[name]; ok && uid != "" && e.uid != uid {
			return nil
		}
		delete(c.claims, name)
		delete(c.purchases.done, name)
		c.builder.DeleteClaim(name)
		c.put("claim "+name, nil)
		return []Change{{Kind: Claim, Name: name}}
	})
}

// forget drops claims that we wrote and that no watch has shown for too long.
func (c *Cluster) forget(now time.Time) {
	for name, e := range c.claims {
		if !e.watched && now.After(e.until) {
			delete(c.claims, name)
			c.builder.DeleteClaim(name)
			c.dirty = true
		}
	}
}

// versionOf reads a resource version; those of one kind of object grow.
func versionOf(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Deleting says that we have asked for the end of a claim: it counts as
// leaving before any watch shows it.
func (c *Cluster) Deleting(o *v1.NodeClaim) {
	gone := o.DeepCopy()
	now := metav1.NewTime(c.now())
	gone.DeletionTimestamp = &now
	// What the API server writes for the deletion is newer than what was deleted.
	gone.ResourceVersion = strconv.FormatUint(versionOf(o.ResourceVersion)+1, 10)
	c.setClaim(gone, false)
}
