package world

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Format names the JSON form of a World.
const Format = "tenon-world/v1"

// document is the JSON form: every item, each kind in order of its key.
type document struct {
	Format     string       `json:"format"`
	At         int64        `json:"at"`
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

// MarshalJSON writes the World so that Read gives it back, digest included.
func (w *World) MarshalJSON() ([]byte, error) {
	return json.Marshal(document{
		Format: Format, At: w.at,
		Pools: w.pools, Catalogs: w.catalogs, DaemonSets: w.daemonSets, Namespaces: w.namespaces, Guards: w.guards,
		Nodes: w.base.nodes.settled, Claims: w.base.claims.settled, Pods: w.pods, Backoffs: w.backoffs,
	})
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
	err := firstError(
		func() error { return each(d.Pools, b.SetPool) },
		func() error { return each(d.Catalogs, b.SetCatalog) },
		func() error { return each(d.DaemonSets, b.SetDaemonSet) },
		func() error { return each(d.Namespaces, b.SetNamespace) },
		func() error { return each(d.Guards, b.SetGuard) },
		func() error { return each(d.Nodes, b.SetNode) },
		func() error { return each(d.Claims, b.SetClaim) },
		func() error { return each(d.Pods, b.SetPod) },
		func() error { return each(d.Backoffs, b.SetBackoff) },
	)
	if err != nil {
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
