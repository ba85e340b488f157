package market

import (
	"maps"
	"time"
)

// Cluster is a managed Kubernetes control plane, as its describe call shows it.
type Cluster struct {
	Name        string
	Version     string // 1.34
	Endpoint    string
	CA          string // base64 of the PEM
	ServiceCIDR string
	IPv6        bool
	VPC         string
	Subnets     []string
	Groups      []string
	Role        string
	Issuer      string
	Created     time.Time
	Tags        Tags
}

// SetCluster makes a cluster or replaces it.
func (m *Market) SetCluster(c Cluster) {
	defer m.lock()()
	if c.Created.IsZero() {
		c.Created = m.at
	}
	c.Tags = maps.Clone(c.Tags)
	m.clusters[c.Name] = &c
}

// Cluster returns one cluster.
func (m *Market) Cluster(name string) (Cluster, error) {
	defer m.lock()()
	c, ok := m.clusters[name]
	if !ok {
		return Cluster{}, Errorf(ResourceNotFoundException, "No cluster found for name: %s.", name)
	}
	return *c, nil
}

// Clusters returns all clusters, by name.
func (m *Market) Clusters() []Cluster {
	defer m.lock()()
	return sorted(m.clusters)
}
