package nodeclass_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/api/aws/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
)

func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	var out T
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

func tagged(key string, values ...string) []nodeclass.Selector {
	return []nodeclass.Selector{{Tags: []nodeclass.Tag{{Key: key, Values: values}}}}
}

// The manifests of three walkthroughs, and what their machines come to.
func TestOlderEra(t *testing.T) {
	metadata := nodeclass.Metadata{Endpoint: "enabled", IPv6: "disabled", Tokens: "required", HopLimit: 2}
	tests := map[string]struct {
		why  string
		read func(t *testing.T) nodeclass.Class
		want nodeclass.Class
	}{
		"Template": {
			why: "A template without a family runs AL2 under the installation's profile.",
			read: func(t *testing.T) nodeclass.Class {
				return nodeclass.FromTemplate(parse[v1alpha1.AWSNodeTemplate](t, `
metadata: {name: default}
spec:
  subnetSelector: {karpenter.sh/discovery: testkarpenter}
  securityGroupSelector: {karpenter.sh/discovery: testkarpenter}
`), "the-profile")
			},
			want: nodeclass.Class{
				Ref:    cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "AWSNodeTemplate", Name: "default"},
				Family: "AL2", Images: []nodeclass.ImageSelector{{Alias: "al2@latest"}}, Profile: "the-profile",
				Subnets: tagged("karpenter.sh/discovery", "testkarpenter"), Groups: tagged("karpenter.sh/discovery", "testkarpenter"),
			},
		},
		"Images": {
			why: "Image ids stand under a key that looks like a tag's.",
			read: func(t *testing.T) nodeclass.Class {
				return nodeclass.FromTemplate(parse[v1alpha1.AWSNodeTemplate](t, `
metadata: {name: default}
spec:
  amiSelector: {aws-ids: "ami-08f2bf224b42c81da, ami-2"}
  subnetSelector: {karpenter.sh/discovery: testkarpenter}
  securityGroupSelector: {karpenter.sh/discovery: "a,b", team: "*"}
`), "p")
			},
			want: nodeclass.Class{
				Ref:    cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "AWSNodeTemplate", Name: "default"},
				Family: "AL2", Profile: "p",
				Images:  []nodeclass.ImageSelector{{Legacy: true, Selector: nodeclass.Selector{IDs: []string{"ami-08f2bf224b42c81da", "ami-2"}}}},
				Subnets: tagged("karpenter.sh/discovery", "testkarpenter"),
				Groups:  []nodeclass.Selector{{Tags: []nodeclass.Tag{{Key: "karpenter.sh/discovery", Values: []string{"a", "b"}}, {Key: "team"}}}},
			},
		},
		"ImagesByName": {
			why: "Names and owners have keys of their own; any other key is a tag with one value.",
			read: func(t *testing.T) nodeclass.Class {
				return nodeclass.FromTemplate(parse[v1alpha1.AWSNodeTemplate](t, `
metadata: {name: default}
spec:
  amiFamily: Bottlerocket
  amiSelector: {"aws::name": my-*, "aws::owners": "self,amazon", team: "a,b"}
  subnetSelector: {"aws::ids": subnet-1}
  securityGroupSelector: {team: a}
  detailedMonitoring: true
  userData: settings
`), "p")
			},
			want: nodeclass.Class{
				Ref:    cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "AWSNodeTemplate", Name: "default"},
				Family: "Bottlerocket", Profile: "p", Monitoring: true, UserData: "settings",
				Images: []nodeclass.ImageSelector{{
					Legacy: true, Owners: []string{"self", "amazon"},
					Selector: nodeclass.Selector{Name: "my-*", Tags: []nodeclass.Tag{{Key: "team", Values: []string{"a,b"}}}},
				}},
				Subnets: []nodeclass.Selector{{IDs: []string{"subnet-1"}}}, Groups: tagged("team", "a"),
			},
		},
		"OwnLaunchTemplate": {
			why: "A Provisioner that names a launch template leaves everything else to it.",
			read: func(t *testing.T) nodeclass.Class {
				c, err := nodeclass.FromProvisioner(parse[v1alpha5.Provisioner](t, `
metadata: {name: default}
spec:
  provider:
    launchTemplate: emr-eks-workshop-karpenter-launchtemplate
    subnetSelector: {karpenter.sh/discovery: emr-eks-workshop}
`), "p")
				if err != nil {
					t.Fatal(err)
				}
				return c
			},
			want: nodeclass.Class{
				Ref:    cloud.ClassRef{Group: "karpenter.sh", Kind: "Provisioner", Name: "default"},
				Family: "AL2", LaunchTemplate: "emr-eks-workshop-karpenter-launchtemplate", Subnets: tagged("karpenter.sh/discovery", "emr-eks-workshop"),
			},
		},
		"Inline": {
			why: "A Provisioner with settings of its own is its own class.",
			read: func(t *testing.T) nodeclass.Class {
				c, err := nodeclass.FromProvisioner(parse[v1alpha5.Provisioner](t, `
metadata: {name: gpu}
spec:
  provider:
    subnetSelector: {karpenter.sh/discovery: karpenter-cluster}
    securityGroupSelector: {kubernetes.io/cluster/karpenter-cluster: owned}
    instanceProfile: mine
    tags: {team: a}
`), "p")
				if err != nil {
					t.Fatal(err)
				}
				return c
			},
			want: nodeclass.Class{
				Ref:    cloud.ClassRef{Group: "karpenter.sh", Kind: "Provisioner", Name: "gpu"},
				Family: "AL2", Images: []nodeclass.ImageSelector{{Alias: "al2@latest"}}, Profile: "mine", Tags: map[string]string{"team": "a"},
				Subnets: tagged("karpenter.sh/discovery", "karpenter-cluster"), Groups: tagged("kubernetes.io/cluster/karpenter-cluster", "owned"),
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.want.Legacy, tc.want.Metadata = true, metadata
			got := tc.read(t)
			if got.Hash == "" || got.HashVersion == "" {
				t.Error("the class has no hash")
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(nodeclass.Class{}, "Hash", "HashVersion")); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

func TestWrongProvisioner(t *testing.T) {
	for name, text := range map[string]string{
		"NoProvider":   "metadata: {name: a}\nspec: {}",
		"UnknownField": "metadata: {name: a}\nspec: {provider: {subnetSelektor: {a: b}}}",
	} {
		if c, err := nodeclass.FromProvisioner(parse[v1alpha5.Provisioner](t, text), "p"); err == nil {
			t.Errorf("%s: got %+v", name, c)
		}
	}
}

// A class of today with everything set.
func TestToday(t *testing.T) {
	o := parse[awsv1.EC2NodeClass](t, `
metadata: {name: all, uid: u}
spec:
  amiFamily: AL2023
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}, {id: ami-1}, {name: my-*, owner: self}, {ssmParameter: /my/image}, {tags: {team: "*"}}]
  subnetSelectorTerms: [{tags: {team: a}}, {id: subnet-1}]
  securityGroupSelectorTerms: [{name: nodes}]
  capacityReservationSelectorTerms: [{id: cr-1}, {tags: {team: a}, ownerID: "111111111111", instanceMatchCriteria: open}]
  placementGroupSelector: {name: close}
  associatePublicIPAddress: false
  instanceStorePolicy: RAID0
  detailedMonitoring: true
  context: the-context
  userData: boot
  tags: {team: a}
  kubelet: {maxPods: 42}
  metadataOptions: {httpTokens: optional}
  blockDeviceMappings:
  - deviceName: /dev/xvda
    rootVolume: true
    ebs: {volumeSize: 1500Mi, volumeType: gp3, iops: 4000, throughput: 200, encrypted: true, deleteOnTermination: true}
`)
	no, yes, iops, throughput := false, true, int64(4000), int64(200)
	want := nodeclass.Class{
		Ref: cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "all"}, UID: "u", Family: "AL2023", Role: "nodes",
		Images: []nodeclass.ImageSelector{
			{Alias: "al2023@latest"},
			{Selector: nodeclass.Selector{IDs: []string{"ami-1"}}},
			{Selector: nodeclass.Selector{Name: "my-*"}, Owners: []string{"self"}},
			{Parameter: "/my/image"},
			{Selector: nodeclass.Selector{Tags: []nodeclass.Tag{{Key: "team"}}}},
		},
		Subnets: append(tagged("team", "a"), nodeclass.Selector{IDs: []string{"subnet-1"}}), Groups: []nodeclass.Selector{{Name: "nodes"}},
		Reservations: []nodeclass.ReservationSelector{
			{Selector: nodeclass.Selector{IDs: []string{"cr-1"}}},
			{Selector: tagged("team", "a")[0], Owner: "111111111111", Matching: "open"},
		},
		PlacementGroup: &nodeclass.Selector{Name: "close"}, PublicIP: &no, RAID0: true, Monitoring: true, Context: "the-context", UserData: "boot",
		Tags: map[string]string{"team": "a"}, Kubelet: []byte(`{"maxPods":42}`),
		Metadata: nodeclass.Metadata{Endpoint: "enabled", IPv6: "disabled", Tokens: "optional", HopLimit: 1},
		Disks:    []nodeclass.Disk{{Device: "/dev/xvda", Root: true, SizeGiB: 2, Type: "gp3", IOPS: &iops, Throughput: &throughput, Encrypted: &yes, DeleteAtEnd: &yes}},
	}
	got := nodeclass.FromV1(o, "")
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(nodeclass.Class{}, "Hash", "HashVersion")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if other := nodeclass.FromV1(o, "another certificate"); other.Hash == got.Hash {
		t.Error("another certificate is in the user data, and the hash is the same")
	}
}
