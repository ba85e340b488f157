package awsapi

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Config says what account to build. Region and ClusterName are all that is needed.
type Config struct {
	Region            string
	ClusterName       string
	KubernetesVersion string // of the simulated EKS cluster, with its own images; 1.34 by default
	AccountID         string
	Endpoint          string // of the API server that machines are to join
	CA                []byte // PEM
	Kubeconfig        string // file that leads to that API server; a tag of the cluster says so
	ServiceCIDR       string // 10.100.0.0/16 by default
	IPv6              bool
	VPC               string // the VPC's range, 192.168.0.0/16 by default
	Catalog           *catalog.Region
	Sells             func(instanceType string) bool // which types of the catalogue the region has; nil: all
	ExtraZones        []string                       // zones the region does not have, selling what its first zone sells
	ExtraTypes        map[string]string              // types the region does not have, by name, each with the one that it is like
	Timing            market.Timing
	Limits            map[string]market.Limit // nil: as AWS has them; empty: none
	Quotas            map[market.Bucket]int
	Latency           map[string]time.Duration // by service; leastLatency at least
	Queueless         bool                     // no interruption queue
	Seed              uint64
	Now               func() time.Time
}

// Account is a region of an account, made ready for a cluster.
type Account struct {
	Market *market.Market
	Rules  *fault.Rules
	cfg    Config

	mu   sync.Mutex
	keys map[string]string // access key → role
}

// The access keys the account knows. AdminKey is the reader's own, who may do everything;
// what ControllerKey may do hangs on the policies of the role ControllerRole.
const (
	AdminKey      = "AKIATENONADMIN000001"
	ControllerKey = "AKIATENONCONTROL0001"
	SecretKey     = "tenon-simulated-secret-of-no-value"
)

// TagKubeconfig is the tag by which the description of the cluster names the file that leads to its API server. The
// context that `aws eks update-kubeconfig` writes does not: it has kubectl send a token for IAM, which only EKS takes.
const TagKubeconfig = "tenon.sh/kubeconfig"

// ControllerRole is the role the controller acts as.
func (a *Account) ControllerRole() string { return a.cfg.ClusterName + "-karpenter" }

// ControllerPolicy names the policy that lets the controller do its work.
func (a *Account) ControllerPolicy() string {
	return a.Market.IAMARN("policy/KarpenterControllerPolicy-" + a.cfg.ClusterName)
}

// NewAccount builds an account with a network, roles, images, a cluster and a queue:
// a public and a private subnet a zone, the private ones and one security group tagged
// karpenter.sh/discovery with the cluster's name, another group tagged as the cluster's own.
func NewAccount(cfg Config) (*Account, error) {
	if cfg.Catalog == nil {
		all, err := catalog.Load()
		if err != nil {
			return nil, err
		}
		region, err := all.Region(cfg.Region)
		if err != nil {
			return nil, err
		}
		cfg.Catalog = region
	}
	if cfg.Limits == nil {
		cfg.Limits = market.Limits()
	}
	cfg.AccountID = cmp.Or(cfg.AccountID, "123456789012")
	cfg.KubernetesVersion = cmp.Or(cfg.KubernetesVersion, "1.34")
	cfg.ServiceCIDR = cmp.Or(cfg.ServiceCIDR, "10.100.0.0/16")
	cfg.VPC = cmp.Or(cfg.VPC, "192.168.0.0/16")
	a := &Account{cfg: cfg, keys: map[string]string{}}
	more, err := alike(market.TypesOf(cfg.Catalog), cfg.ExtraTypes)
	if err != nil {
		return nil, err
	}
	zones, types := widen(market.ZonesOf(cfg.Catalog), more, cfg.ExtraZones)
	if cfg.Sells != nil {
		types = slices.DeleteFunc(types, func(t market.Type) bool { return !cfg.Sells(t.Name) })
	}
	a.Market = market.New(market.Config{
		Region: cfg.Region, Account: cfg.AccountID, Seed: cfg.Seed, Zones: zones, Types: types,
		Timing: cfg.Timing, Limits: cfg.Limits, Quotas: cfg.Quotas, Now: cfg.Now,
	})
	a.Rules = &fault.Rules{Now: a.Market.Now}
	a.keys[ControllerKey] = a.ControllerRole()
	if err := a.build(); err != nil {
		return nil, fmt.Errorf("build the simulated account of %q in %s: %w", cfg.ClusterName, cfg.Region, err)
	}
	return a, nil
}

// alike adds types that are like others but for their names.
func alike(types []market.Type, extra map[string]string) ([]market.Type, error) {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		at := slices.IndexFunc(types, func(t market.Type) bool { return t.Name == extra[name] })
		taken := slices.ContainsFunc(types, func(t market.Type) bool { return t.Name == name })
		switch {
		case at < 0:
			return nil, fmt.Errorf("type %s is to be like %s, which the region does not sell", name, extra[name])
		case taken:
			return nil, fmt.Errorf("the region has a type %s already", name)
		}
		t := types[at]
		t.Name = name
		types = append(types, t)
	}
	return types, nil
}

// widen adds zones that sell what the first one sells.
func widen(zones []market.Zone, types []market.Type, extra []string) ([]market.Zone, []market.Type) {
	if len(zones) == 0 {
		return zones, types
	}
	first := zones[0].Name
	for _, z := range extra {
		zones = append(zones, market.Zone{Name: z, ID: z + "-az"})
		for k := range types {
			if t := &types[k]; slices.Contains(t.Zones, first) {
				t.Zones = append(slices.Clone(t.Zones), z)
				if price, sold := t.SpotFrom[first]; sold {
					t.SpotFrom[z] = price
				}
			}
		}
	}
	return zones, types
}

// leastLatency is how long every call takes. The SDK closes the body of a request as soon as the answer has
// begun; a server that answers within microseconds makes it break off the connection now and then.
const leastLatency = 2 * time.Millisecond

func (a *Account) latency(service string) time.Duration {
	return max(a.cfg.Latency[service], leastLatency)
}

// Observe registers an observer of machines; notices go to the queue besides.
func (a *Account) Observe(o market.Observer) {
	a.Market.Observe(observer{Observer: o, account: a})
}

func (a *Account) build() error {
	vpc, err := netip.ParsePrefix(a.cfg.VPC)
	if err != nil {
		return fmt.Errorf("range of the VPC: %w", err)
	}
	vpcID := "vpc-0" + a.Market.UUID("vpc")[:8] + "00000000"
	subnets := a.subnets(vpc, vpcID)
	groups := a.groups(vpcID)
	a.identities()
	a.Market.Publish(market.Release{Kubernetes: a.cfg.KubernetesVersion, Date: a.Market.Now().AddDate(0, 0, -7)})
	host := "amazonaws.com"
	if a.Market.Partition() == "aws-cn" {
		host = "amazonaws.com.cn"
	}
	hex := a.Market.UUID("cluster")
	id := hex[:8] + hex[9:13]
	tags := market.Tags{"karpenter.sh/discovery": a.cfg.ClusterName}
	if a.cfg.Kubeconfig != "" {
		tags[TagKubeconfig] = a.cfg.Kubeconfig
	}
	a.Market.SetCluster(market.Cluster{
		Name: a.cfg.ClusterName, Version: a.cfg.KubernetesVersion, ServiceCIDR: a.cfg.ServiceCIDR, IPv6: a.cfg.IPv6,
		Endpoint: cmp.Or(a.cfg.Endpoint, fmt.Sprintf("https://%s.sk1.%s.eks.%s", id, a.cfg.Region, host)),
		CA:       base64.StdEncoding.EncodeToString(a.cfg.CA), VPC: vpcID, Subnets: subnets, Groups: groups,
		Role: a.Market.IAMARN("role/" + a.cfg.ClusterName + "-cluster"), Issuer: fmt.Sprintf("https://oidc.eks.%s.%s/id/%s", a.cfg.Region, host, id),
		Tags: tags,
	})
	if !a.cfg.Queueless {
		a.Market.AddQueue(a.cfg.ClusterName, 5*time.Minute)
	}
	a.Observe(market.Observers{})
	return nil
}

// subnets makes a private and a public subnet in each zone.
func (a *Account) subnets(vpc netip.Prefix, id string) []string {
	var out []string
	size := vpc.Bits() + 3 // eight subnets; in a /16, 8,187 addresses each
	if len(a.Market.Zones()) > 4 {
		size++
	}
	ranges := split(vpc, size)
	for n, z := range a.Market.Zones() {
		for k, kind := range []string{"Private", "Public"} {
			i := 2*n + k
			if i >= len(ranges) {
				break
			}
			tags := market.Tags{
				"Name":                         fmt.Sprintf("eksctl-%s-cluster/Subnet%s%s", a.cfg.ClusterName, kind, z.Name),
				"alpha.eksctl.io/cluster-name": a.cfg.ClusterName,
			}
			if kind == "Private" {
				tags["karpenter.sh/discovery"] = a.cfg.ClusterName
				tags["kubernetes.io/role/internal-elb"] = "1"
			} else {
				tags["kubernetes.io/role/elb"] = "1"
			}
			tags["kubernetes.io/cluster/"+a.cfg.ClusterName] = "shared"
			s := market.Subnet{VPC: id, Zone: z.Name, Range: ranges[i], Public: kind == "Public", Tags: tags}
			if a.cfg.IPv6 {
				s.Range6 = netip.MustParsePrefix(fmt.Sprintf("2600:1f14:abc:%x00::/64", i))
			}
			out = append(out, a.Market.AddSubnet(s).ID)
		}
	}
	return out
}

// split cuts a range into ranges of a size.
func split(p netip.Prefix, bits int) []netip.Prefix {
	var out []netip.Prefix
	base := p.Masked().Addr().As4()
	start := uint32(base[0])<<24 | uint32(base[1])<<16 | uint32(base[2])<<8 | uint32(base[3])
	for k := range uint32(1) << (bits - p.Bits()) {
		at := start + k<<(32-bits)
		out = append(out, netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(at >> 24), byte(at >> 16), byte(at >> 8), byte(at)}), bits))
	}
	return out
}

func (a *Account) groups(vpc string) []string {
	c := a.cfg.ClusterName
	nodes := a.Market.AddSecurityGroup(market.SecurityGroup{
		VPC: vpc, Name: "eks-cluster-sg-" + c, Description: "EKS created security group applied to ENI that is attached to EKS Control Plane nodes, as well as any managed workloads.",
		Tags: market.Tags{"Name": "eks-cluster-sg-" + c, "kubernetes.io/cluster/" + c: "owned", "aws:eks:cluster-name": c},
	})
	shared := a.Market.AddSecurityGroup(market.SecurityGroup{
		VPC: vpc, Name: "eksctl-" + c + "-nodes", Description: "Communication between all nodes in the cluster",
		Tags: market.Tags{"Name": "eksctl-" + c + "-nodes", "karpenter.sh/discovery": c},
	})
	return []string{nodes.ID, shared.ID}
}

func (a *Account) identities() {
	c, m := a.cfg.ClusterName, a.Market
	managed := func(name string) string { return "arn:" + m.Partition() + ":iam::aws:policy/" + name }
	node := m.AddRole(market.Role{
		Name: "KarpenterNodeRole-" + c,
		Policies: []string{
			managed("AmazonEKS_CNI_Policy"), managed("AmazonEKSWorkerNodePolicy"),
			managed("AmazonEC2ContainerRegistryReadOnly"), managed("AmazonSSMManagedInstanceCore"),
		},
	})
	m.AddRole(market.Role{Name: a.ControllerRole(), Policies: []string{a.ControllerPolicy()}})
	// Neither the profile nor the role can exist yet, so that these two cannot be refused.
	_, _ = m.CreateProfile("KarpenterNodeInstanceProfile-"+c, "/", nil)
	_ = m.AddRoleToProfile("KarpenterNodeInstanceProfile-"+c, node.Name)
}

// caller is who signed a request.
type caller struct {
	arn  string
	id   string
	role string // empty for the account's own user, who may do everything
}

// identify finds out who calls by the access key of the signature.
func (a *Account) identify(r *http.Request) caller {
	s, ok := scopeOf(r)
	if !ok {
		return caller{arn: a.Market.IAMARN("root"), id: a.cfg.AccountID}
	}
	a.mu.Lock()
	role := a.keys[s.key]
	a.mu.Unlock()
	if role == "" {
		return caller{arn: a.Market.IAMARN("user/admin"), id: "AIDATENONADMIN0000001"}
	}
	return caller{
		arn:  fmt.Sprintf("arn:%s:sts::%s:assumed-role/%s/tenon", a.Market.Partition(), a.cfg.AccountID, role),
		id:   "AROATENONROLE00000001:tenon",
		role: role,
	}
}

// grant makes an access key that acts as a role.
func (a *Account) grant(role string) string {
	key := "ASIA" + upperHex(a.Market.UUID("session"), 16)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys[key] = role
	return key
}
