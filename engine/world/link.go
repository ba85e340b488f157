package world

import (
	"cmp"
	"slices"
	"strings"
)

// links are nodes and claims by what they say of each other.
type links struct {
	nodesByClaim, nodesByProvider  linkTable[Node]
	claimsByNode, claimsByProvider linkTable[Claim]
}

// link is what an item says, and its name.
type link struct{ by, name string }

// linkTable is items by what they say, and by name among those that say the same. Those that say nothing are not in it.
type linkTable[V any] struct{ table[link, V] }

func newLinkTable[V any](of func(*V) link) linkTable[V] {
	return linkTable[V]{newTable(of, func(a, b link) int { return cmp.Or(strings.Compare(a.by, b.by), strings.Compare(a.name, b.name)) })}
}

func newLinks() links {
	return links{
		nodesByClaim:     newLinkTable(func(n *Node) link { return link{n.Claim, n.Name} }),
		nodesByProvider:  newLinkTable(func(n *Node) link { return link{n.ProviderID, n.Name} }),
		claimsByNode:     newLinkTable(func(c *Claim) link { return link{c.Node, c.Name} }),
		claimsByProvider: newLinkTable(func(c *Claim) link { return link{c.ProviderID, c.Name} }),
	}
}

// over returns links that start from settled ones.
func (l links) over(settled links) links {
	l.nodesByClaim.table = l.nodesByClaim.over(settled.nodesByClaim.settled)
	l.nodesByProvider.table = l.nodesByProvider.over(settled.nodesByProvider.settled)
	l.claimsByNode.table = l.claimsByNode.over(settled.claimsByNode.settled)
	l.claimsByProvider.table = l.claimsByProvider.over(settled.claimsByProvider.settled)
	return l
}

func (l *links) settle() {
	l.nodesByClaim.settle()
	l.nodesByProvider.settle()
	l.claimsByNode.settle()
	l.claimsByProvider.settle()
}

func (l *links) node(old, is *Node) {
	l.nodesByClaim.move(old, is)
	l.nodesByProvider.move(old, is)
}

func (l *links) claim(old, is *Claim) {
	l.claimsByNode.move(old, is)
	l.claimsByProvider.move(old, is)
}

// move puts an item where it belongs now.
func (t *linkTable[V]) move(old, is *V) {
	if old != nil && t.key(old).by != "" {
		t.put(t.key(old), nil)
	}
	if is != nil && t.key(is).by != "" {
		t.put(t.key(is), is)
	}
}

// of yields the items that say so, by name. All changes have to be settled.
func (t *linkTable[V]) of(by string) func(yield func(*V) bool) {
	return func(yield func(*V) bool) {
		if by == "" {
			return
		}
		i, _ := slices.BinarySearchFunc(t.settled, by, func(v *V, by string) int { return strings.Compare(t.key(v).by, by) })
		for ; i < len(t.settled) && t.key(t.settled[i]).by == by; i++ {
			if !yield(t.settled[i]) {
				return
			}
		}
	}
}
