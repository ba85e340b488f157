// Package ekscluster finds what machines must know of the cluster that they join.
package ekscluster

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// How long what EKS said of the cluster is used, for its version may rise; and
// how long to do without where EKS did not answer.
const (
	fresh        = 15 * time.Minute
	freshWithout = time.Minute
)

// Settings are what an operator says of the cluster.
type Settings struct {
	Name     string
	Endpoint string // of the API server; empty: EKS is asked
	CA       string // its certificate in base64; empty: EKS is asked
	DNS      string // address of the cluster's DNS service
	Known    Known  // where neither these settings nor EKS say it
	OnlyEKS  bool   // the version is what EKS says, and nothing else
}

// Known is what the cluster says of itself. It stands in for EKS where that cannot
// be asked, or knows no such cluster.
type Known struct {
	Endpoint    string // of the API server, as machines can reach it
	CA          string // its certificate in base64
	Kubernetes  string // minor version, such as 1.36
	ServiceCIDR string
}

// Finder asks EKS about one cluster and remembers the answer for a while.
type Finder struct {
	eks      *eks.Client
	settings Settings
	found    *answers.Memory[found]
}

type found struct {
	cluster bootstrap.Cluster
	version string
	arn     string // empty if EKS does not know the cluster
}

// New returns a Finder over a client.
func New(c *eks.Client, s Settings, now clock.Now) *Finder {
	return &Finder{eks: c, settings: s, found: answers.New(now, answers.Rules[found]{})}
}

// Find returns what a machine must know of the cluster, and the cluster's
// minor version. Settings win over what EKS says, and that over what the cluster
// says of itself; so a cluster that is not EKS will do.
func (f *Finder) Find(ctx context.Context) (bootstrap.Cluster, string, error) {
	c, err := f.found.Get(ctx, "", f.ask)
	return c.cluster, c.version, err
}

// ARN is the cluster's ARN; empty if EKS does not know it.
func (f *Finder) ARN(ctx context.Context) (string, error) {
	c, err := f.found.Get(ctx, "", f.ask)
	return c.arn, err
}

func (f *Finder) ask(ctx context.Context) (found, time.Duration, error) {
	s := f.settings
	c := bootstrap.Cluster{Name: s.Name, Endpoint: s.Endpoint, CA: s.CA, DNS: s.DNS}
	version, arn, holds := "", "", fresh
	out, asked := f.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(s.Name)})
	if asked == nil && out.Cluster != nil {
		e := out.Cluster
		version, arn = aws.ToString(e.Version), aws.ToString(e.Arn)
		c.Endpoint = cmp.Or(c.Endpoint, aws.ToString(e.Endpoint))
		if e.CertificateAuthority != nil {
			c.CA = cmp.Or(c.CA, aws.ToString(e.CertificateAuthority.Data))
		}
		if n := e.KubernetesNetworkConfig; n != nil {
			c.ServiceCIDR = cmp.Or(aws.ToString(n.ServiceIpv6Cidr), aws.ToString(n.ServiceIpv4Cidr))
		}
	} else {
		holds = freshWithout
	}
	c.Endpoint, c.CA = cmp.Or(c.Endpoint, s.Known.Endpoint), cmp.Or(c.CA, s.Known.CA)
	c.ServiceCIDR = cmp.Or(c.ServiceCIDR, s.Known.ServiceCIDR)
	if !s.OnlyEKS {
		version = cmp.Or(version, s.Known.Kubernetes)
	}
	c.DNS = cmp.Or(c.DNS, dnsOf6(c.ServiceCIDR))
	switch {
	case asked != nil && (c.Endpoint == "" || c.CA == "" || version == ""):
		return found{}, 0, refusal.Wrap("describe cluster "+s.Name, asked)
	case c.Endpoint == "":
		return found{}, 0, cloud.Errorf(cloud.NotReady, awsv1.ReasonClusterEndpointUnknown, "where machines find the API server of cluster %s is not known: set CLUSTER_ENDPOINT, or allow eks:DescribeCluster", s.Name)
	case version == "":
		return found{}, 0, cloud.Errorf(cloud.NotReady, awsv1.ReasonClusterVersionUnknown, "the version of cluster %s is not known: allow eks:DescribeCluster", s.Name)
	}
	return found{c, version, arn}, holds, nil
}

// dnsOf6 is where EKS puts the DNS service of a cluster whose services have IPv6
// addresses; empty for any other. Images have to be given it, since it is by this
// address that they know which family of addresses the cluster uses.
func dnsOf6(cidr string) string {
	p, err := netip.ParsePrefix(cidr)
	if err != nil || !p.Addr().Is6() {
		return ""
	}
	b := p.Masked().Addr().As16()
	b[15] += 0xa
	return netip.AddrFrom16(b).String()
}
