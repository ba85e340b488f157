package aws

import (
	"context"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/turn"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// again is how long what EKS said of the cluster is used. Its version may rise.
const again = 15 * time.Minute

// home is the cluster that machines join.
type home struct {
	eks      *eks.Client
	settings Settings
	now      clock.Now
	line     turn.Line // the rest belongs to whose turn it is

	at      time.Time
	cluster bootstrap.Cluster
	version string
}

// find returns what a machine must know of the cluster, and the cluster's
// minor version. Settings win over what EKS says; where they say everything, a
// cluster that is not EKS will do.
func (h *home) find(ctx context.Context) (bootstrap.Cluster, string, error) {
	done, err := h.line.Take(ctx, "")
	if err != nil {
		return bootstrap.Cluster{}, "", err
	}
	defer done()
	if !h.at.IsZero() && h.now.Since(h.at) < again {
		return h.cluster, h.version, nil
	}
	s := h.settings
	c := bootstrap.Cluster{Name: s.Cluster, Endpoint: s.Endpoint, CA: s.CA, DNS: s.DNS}
	version := s.Kubernetes
	out, err := h.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: awssdk.String(s.Cluster)})
	switch {
	case err == nil && out.Cluster != nil:
		e := out.Cluster
		if c.Endpoint == "" {
			c.Endpoint = awssdk.ToString(e.Endpoint)
		}
		if c.CA == "" && e.CertificateAuthority != nil {
			c.CA = awssdk.ToString(e.CertificateAuthority.Data)
		}
		if n := e.KubernetesNetworkConfig; n != nil {
			c.ServiceCIDR = awssdk.ToString(n.ServiceIpv4Cidr)
			if v6 := awssdk.ToString(n.ServiceIpv6Cidr); v6 != "" {
				c.ServiceCIDR = v6
			}
		}
		if v := awssdk.ToString(e.Version); v != "" {
			version = v
		}
	case c.Endpoint == "" || c.CA == "" || version == "":
		return c, "", refusal.Wrap("describe cluster "+s.Cluster, err)
	}
	if version == "" {
		return c, "", cloud.Errorf(cloud.NotReady, "ClusterVersionUnknown", "the version of cluster %s is not known: allow eks:DescribeCluster", s.Cluster)
	}
	h.cluster, h.version, h.at = c, version, h.now()
	return c, version, nil
}
