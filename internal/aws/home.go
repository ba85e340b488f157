package aws

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/keylock"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// How long what EKS said of the cluster is used, for its version may rise; and
// how long to do without where EKS did not answer.
const (
	homeAgain   = 15 * time.Minute
	homeWithout = time.Minute
)

// home is the cluster that machines join.
type home struct {
	eks      *eks.Client
	settings Settings
	now      clock.Now
	lock     keylock.Locks // guards what follows

	until   time.Time
	cluster bootstrap.Cluster
	version string
	arn     string // empty if EKS does not know the cluster
}

// find returns what a machine must know of the cluster, and the cluster's
// minor version. Settings win over what EKS says, and that over what the cluster
// says of itself; so a cluster that is not EKS will do.
func (h *home) find(ctx context.Context) (bootstrap.Cluster, string, error) {
	done, err := h.lock.Lock(ctx, "")
	if err != nil {
		return bootstrap.Cluster{}, "", err
	}
	defer done()
	if h.now().Before(h.until) {
		return h.cluster, h.version, nil
	}
	s := h.settings
	c := bootstrap.Cluster{Name: s.Cluster, Endpoint: s.Endpoint, CA: s.CA, DNS: s.DNS}
	version, arn, fresh := "", "", homeAgain
	out, asked := h.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: awssdk.String(s.Cluster)})
	if asked == nil && out.Cluster != nil {
		e := out.Cluster
		version, arn = awssdk.ToString(e.Version), awssdk.ToString(e.Arn)
		c.Endpoint = cmp.Or(c.Endpoint, awssdk.ToString(e.Endpoint))
		if e.CertificateAuthority != nil {
			c.CA = cmp.Or(c.CA, awssdk.ToString(e.CertificateAuthority.Data))
		}
		if n := e.KubernetesNetworkConfig; n != nil {
			c.ServiceCIDR = cmp.Or(awssdk.ToString(n.ServiceIpv6Cidr), awssdk.ToString(n.ServiceIpv4Cidr))
		}
	} else {
		fresh = homeWithout
	}
	c.Endpoint, c.CA = cmp.Or(c.Endpoint, s.Known.Endpoint), cmp.Or(c.CA, s.Known.CA)
	c.ServiceCIDR, version = cmp.Or(c.ServiceCIDR, s.Known.ServiceCIDR), cmp.Or(version, s.Known.Kubernetes)
	c.DNS = cmp.Or(c.DNS, dnsOf6(c.ServiceCIDR))
	switch {
	case asked != nil && (c.Endpoint == "" || c.CA == "" || version == ""):
		return c, "", refusal.Wrap("describe cluster "+s.Cluster, asked)
	case c.Endpoint == "":
		return c, "", cloud.Errorf(cloud.NotReady, awsv1.ReasonClusterEndpointUnknown, "where machines find the API server of cluster %s is not known: set CLUSTER_ENDPOINT, or allow eks:DescribeCluster", s.Cluster)
	case version == "":
		return c, "", cloud.Errorf(cloud.NotReady, awsv1.ReasonClusterVersionUnknown, "the version of cluster %s is not known: allow eks:DescribeCluster", s.Cluster)
	}
	h.cluster, h.version, h.arn, h.until = c, version, arn, h.now().Add(fresh)
	return c, version, nil
}

// name is the cluster's ARN; empty if EKS does not know it.
func (h *home) name(ctx context.Context) (string, error) {
	if _, _, err := h.find(ctx); err != nil {
		return "", err
	}
	done, err := h.lock.Lock(ctx, "")
	if err != nil {
		return "", err
	}
	defer done()
	return h.arn, nil
}

// dnsOf6 is where EKS puts the DNS service of a cluster whose services have IPv6
// addresses; empty for any other. Images have to be told, since it is by this
// address that they know which family of addresses the cluster speaks.
func dnsOf6(cidr string) string {
	p, err := netip.ParsePrefix(cidr)
	if err != nil || !p.Addr().Is6() {
		return ""
	}
	b := p.Masked().Addr().As16()
	b[15] += 0xa
	return netip.AddrFrom16(b).String()
}
