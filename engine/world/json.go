package world

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Format names the JSON form of a World.
const Format = "tenon-world/v1"

// Items are some of what a World holds, each kind in order of its key.
type Items struct {
	Pools      []*Pool      `json:"pools,omitempty"`
	Catalogs   []*Catalog   `json:"catalogs,omitempty"`
	DaemonSets []*DaemonSet `json:"daemonSets,omitempty"`
	Namespaces []*Namespace `json:"namespaces,omitempty"`
	Guards     []*Guard     `json:"guards,omitempty"`
	Nodes      []*Node      `json:"nodes,omitempty"`
	Claims     []*Claim     `json:"claims,omitempty"`
	Pods       []*Pod       `json:"pods,omitempty"`
	Backoffs   []*Backoff   `json:"backoffs,omitempty"`
}

// setAll sets items of every kind, and stops at the first that cannot be.
func (b *Builder) setAll(i Items) error {
	return firstError(
		func() error { return each(i.Pools, b.SetPool) },
		func() error { return each(i.Catalogs, b.SetCatalog) },
		func() error { return each(i.DaemonSets, b.SetDaemonSet) },
		func() error { return each(i.Namespaces, b.SetNamespace) },
		func() error { return each(i.Guards, b.SetGuard) },
		func() error { return each(i.Nodes, b.SetNode) },
		func() error { return each(i.Claims, b.SetClaim) },
		func() error { return each(i.Pods, b.SetPod) },
		func() error { return each(i.Backoffs, b.SetBackoff) },
	)
}

// document is the JSON form: every item.
type document struct {
	Format string `json:"format"`
	At     int64  `json:"at"`
	Items
}

// MarshalJSON writes the World so that Read gives it back, digest included.
func (w *World) MarshalJSON() ([]byte, error) {
	return json.Marshal(document{Format: Format, At: w.at, Items: Items{
		Pools: w.pools, Catalogs: w.catalogs, DaemonSets: w.daemonSets, Namespaces: w.namespaces, Guards: w.guards,
		Nodes: w.base.nodes.settled, Claims: w.base.claims.settled, Pods: w.pods, Backoffs: w.backoffs,
	}})
}

// Read returns the World that data describes.
func Read(data []byte) (*World, error) {
	var d document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("read world: %w", err)
	}
	if d.Format != Format {
		return nil, fmt.Errorf("read world: format is %q, want %q", d.Format, Format)
	}
	b := NewBuilder()
	if err := b.setAll(d.Items); err != nil {
		return nil, fmt.Errorf("read world: %w", err)
	}
	return b.Snapshot(d.At), nil
}

func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func each[V any](items []*V, set func(V) error) error {
	for i, v := range items {
		if v == nil {
			return fmt.Errorf("item %d is null", i)
		}
		if err := set(*v); err != nil {
			return err
		}
	}
	return nil
}
