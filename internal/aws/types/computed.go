package types

import (
	"errors"

	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// For returns the settings as they are for one type: with values in the place of expressions. An error says which of them fails.
func (s Settings) For(t *catalog.Type) (Settings, error) {
	if !s.Kubelet.Expressions.Any() {
		return s, nil
	}
	if s.Computed == nil {
		return s, errors.New("expressions are off")
	}
	m := kubelet.Machine{Type: t.Name, VCPUs: int64(t.VCPUs), MemoryMiB: t.MemoryMiB, DefaultENIs: int64(t.DefaultCardENIs), IPsPerENI: int64(t.IPv4PerENI)}
	k, err := s.Computed.Compute(s.Kubelet, m, func(k kubelet.Config) int64 {
		with := s
		with.Kubelet = k
		return pods(t, with, familyOf(s.Class.Family))
	})
	s.Kubelet = k
	return s, err
}
