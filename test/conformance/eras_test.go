package conformance

import (
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/market"
	"github.com/tenon-sh/tenon/test/stage"
)

// era is how one generation of Karpenter left its nodes.
type era struct {
	name        string
	tags        market.Tags // of the machine
	labels      map[string]string
	annotations map[string]string
	owner       metav1.OwnerReference // of the node
	claim       func(*corev1.Node, *v1.NodePool) *v1.NodeClaim
}

func eras(cluster string) []era {
	owned := func(tags market.Tags) market.Tags {
		out := market.Tags{"kubernetes.io/cluster/" + cluster: "owned"}
		maps.Copy(out, tags)
		return out
	}
	return []era{
		{
			// 0.27 and before: nothing but the node.
			name: "provisioner", tags: owned(market.Tags{"karpenter.sh/provisioner-name": "old", "Name": "karpenter.sh/provisioner-name/old"}),
			labels: map[string]string{"karpenter.sh/provisioner-name": "old", "karpenter.sh/initialized": "true"},
		},
		{
			// 0.28 to 0.31: a Machine stood behind it. Its kind is no more.
			name:        "machine",
			tags:        owned(market.Tags{"karpenter.sh/provisioner-name": "old", "karpenter.sh/managed-by": cluster, "Name": "ip-1"}),
			labels:      map[string]string{"karpenter.sh/provisioner-name": "old", "karpenter.sh/initialized": "true", "karpenter.sh/registered": "true"},
			annotations: map[string]string{"karpenter.sh/provisioner-hash": "1234", "karpenter.k8s.aws/nodetemplate-hash": "5678"},
			owner:       metav1.OwnerReference{APIVersion: "karpenter.sh/v1alpha5", Kind: "Machine", Name: "old-x1x1x", UID: "11111111-1111-4111-8111-111111111111"},
		},
		{
			// 0.32 to 0.37: claims of a version that is not served any more.
			name:        "beta",
			tags:        owned(market.Tags{"karpenter.sh/nodepool": "kept", "karpenter.sh/nodeclaim": "kept-b2b2b", "karpenter.sh/managed-by": cluster}),
			labels:      map[string]string{"karpenter.sh/nodepool": "kept", "karpenter.sh/initialized": "true", "karpenter.sh/registered": "true"},
			annotations: map[string]string{"karpenter.sh/nodepool-hash": "1234", "karpenter.sh/nodepool-hash-version": "v2", "karpenter.k8s.aws/ec2nodeclass-hash": "5678"},
			owner:       metav1.OwnerReference{APIVersion: "karpenter.sh/v1beta1", Kind: "NodeClaim", Name: "kept-b2b2b", UID: "22222222-2222-4222-8222-222222222222"},
		},
		{
			// 1.0 and later: the claim is there, as it was written.
			name:        "one",
			tags:        owned(market.Tags{"karpenter.sh/nodepool": "kept", "karpenter.sh/nodeclaim": "kept-c3c3c", "eks:eks-cluster-name": cluster}),
			labels:      map[string]string{"karpenter.sh/nodepool": "kept", "karpenter.sh/initialized": "true", "karpenter.sh/registered": "true", "karpenter.k8s.aws/ec2nodeclass": "default"},
			annotations: hashesOfOthers(),
			claim:       claimOfOthers,
		},
	}
}

// hashesOfOthers are the annotations by which Karpenter sees what has drifted.
func hashesOfOthers() map[string]string {
	return map[string]string{
		"karpenter.sh/nodepool-hash": "9007199254740993", "karpenter.sh/nodepool-hash-version": "v3",
		"karpenter.k8s.aws/ec2nodeclass-hash": "1234567890", "karpenter.k8s.aws/ec2nodeclass-hash-version": "v4", "karpenter.k8s.aws/tagged": "true",
	}
}

// claimOfOthers is the claim of a node as Karpenter 1.0 wrote it: without the
// generations that its conditions speak of.
func claimOfOthers(n *corev1.Node, pool *v1.NodePool) *v1.NodeClaim {
	block := true
	c := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: "kept-c3c3c", Finalizers: []string{v1.Finalizer}, Annotations: hashesOfOthers(),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: pool.Name, UID: pool.UID, BlockOwnerDeletion: &block}},
			Labels:          map[string]string{v1.LabelNodePool: "kept", v1.LabelCapacityType: "on-demand", v1.LabelInstanceType: "m5.large", v1.LabelZone: n.Labels[v1.LabelZone]},
		},
		Spec: v1.NodeClaimSpec{
			NodeClassRef: &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}, ExpireAfter: v1.Never,
			Requirements: []v1.Requirement{{Key: v1.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{"c5.large", "m5.large"}}},
		},
	}
	c.Status.ProviderID, c.Status.NodeName, c.Status.Capacity, c.Status.Allocatable = n.Spec.ProviderID, n.Name, n.Status.Capacity, n.Status.Allocatable
	for _, kind := range []string{"Launched", "Registered", "Initialized", "Ready"} {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: metav1.Now()})
	}
	return c
}

// TestEras swaps the controller under nodes of every generation of Karpenter:
// each gets a claim if it has none, and none is touched.
func TestEras(t *testing.T) {
	if !all() {
		t.Skip("its clock is turned: set TENON_TEST_CONFORMANCE=all to have it as well")
	}
	s := stage.Set(t, stage.Options{Name: "eras"})
	old := kubetest.Client(t, v1alpha5.AddToScheme, awsv1alpha1.AddToScheme)
	class, pool := s.Class(), stage.Pool("kept")
	pool.Annotations = map[string]string{"karpenter.sh/nodepool-hash": "9007199254740993", "karpenter.sh/nodepool-hash-version": "v3"}
	s.Make(t, class, pool)
	provisioner := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Spec: v1alpha5.ProvisionerSpec{ProviderRef: &v1alpha5.ProviderRef{Name: "old"}}}
	template := &awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
	template.Spec.SubnetSelector = map[string]string{"karpenter.sh/discovery": s.Name}
	template.Spec.SecurityGroupSelector = map[string]string{"karpenter.sh/discovery": s.Name}
	for _, o := range []client.Object{template, provisioner} {
		if err := old.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	first := s.Inside(t, 0, kubetest.Config(t))
	kubetest.Within(t, soon, func() error {
		err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(class), class)
		if err == nil && image(class) == "" {
			err = errors.New("the class names no image yet")
		}
		return err
	})
	first.Stop()

	ns := kubetest.Namespace(t)
	nodes := map[string]*corev1.Node{}
	for _, e := range eras(s.Name) {
		nodes[e.name] = e.leave(t, s, image(class), pool)
		pod := stage.Apart(ns, e.name, 1)
		pod.Spec.Template.Spec.NodeSelector = map[string]string{"era": e.name}
		s.Make(t, pod)
	}
	s.Runs(t, soon, ns, len(nodes))
	bought, ended := s.Calls("CreateFleet"), s.Calls("TerminateInstances")

	// Nodes are grown up for a controller whose clock is ahead, and it looks at
	// once; twenty minutes later everything is as it was.
	for _, ahead := range []time.Duration{10 * time.Minute, 30 * time.Minute} {
		next := s.Inside(t, ahead, kubetest.Config(t))
		kubetest.Within(t, soon, func() error { return adopted(t, s, nodes) })
		next.Stop()
	}
	s.Runs(t, soon, ns, len(nodes))
	if b, e := s.Calls("CreateFleet")-bought, s.Calls("TerminateInstances")-ended; b+e > 0 {
		t.Errorf("%d calls of CreateFleet and %d of TerminateInstances", b, e)
	}

	// From now on they are nodes like all others.
	s.Inside(t, 30*time.Minute, kubetest.Config(t))
	if err := s.Client.DeleteAllOf(t.Context(), &v1.NodePool{}); err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{provisioner, template} {
		if err := old.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	kubetest.Within(t, 2*soon, s.Left)
	s.Drop(t, class)
}

// image is the one that the class gives to common machines.
func image(c *awsv1.EC2NodeClass) string {
	for _, a := range c.Status.AMIs {
		if slices.ContainsFunc(a.Requirements, func(r corev1.NodeSelectorRequirement) bool {
			return r.Key == v1.LabelArch && slices.Contains(r.Values, "amd64")
		}) && !strings.Contains(a.Name, "nvidia") && !strings.Contains(a.Name, "neuron") {
			return a.ID
		}
	}
	return ""
}

// leave has a machine of the era join, as its Karpenter left it, and returns its node.
func (e era) leave(t *testing.T, s *stage.Stage, image string, pool *v1.NodePool) *corev1.Node {
	t.Helper()
	flags := "--node-labels=karpenter.sh/capacity-type=on-demand,era=" + e.name
	script := "#!/bin/bash\n/etc/eks/bootstrap.sh " + s.Name + " --kubelet-extra-args '" + flags + "'\n"
	var subnet string
	for _, n := range s.Account.Market.Subnets() {
		if n.Tags["karpenter.sh/discovery"] == s.Name {
			subnet = n.ID
		}
	}
	made, err := s.Account.Market.RunInstances(market.RunRequest{
		Data: market.TemplateData{Image: image, Type: "m5.large", UserData: base64.StdEncoding.EncodeToString([]byte(script))}, Subnet: subnet,
		Tags: []market.TagSpec{{Kind: "instance", Tags: e.tags}}, Min: 1, Max: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := &corev1.Node{}
	kubetest.Within(t, soon, func() error {
		if err := s.Client.Get(t.Context(), client.ObjectKey{Name: made[0].DNS}, n); err != nil {
			return err
		}
		if !slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			return errors.New("not ready")
		}
		return nil
	})
	if e.claim != nil {
		c := e.claim(n, pool)
		status := c.DeepCopy().Status
		s.Make(t, c)
		c.Status = status
		if err := s.Client.Status().Update(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		e.owner = metav1.OwnerReference{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: c.Name, UID: c.UID}
	}
	next := n.DeepCopy()
	next.Finalizers = append(next.Finalizers, v1.Finalizer)
	maps.Copy(next.Labels, e.labels)
	maps.Copy(next.Annotations, e.annotations)
	if e.owner.Kind == "NodeClaim" && e.claim != nil { // the garbage collector would miss the others
		next.OwnerReferences = append(next.OwnerReferences, e.owner)
	}
	if err := s.Client.Patch(t.Context(), next, client.MergeFrom(n)); err != nil {
		t.Fatal(err)
	}
	return next
}

// adopted says what is missing until every node has a claim that knows it, and
// none was touched.
func adopted(t *testing.T, s *stage.Stage, nodes map[string]*corev1.Node) error {
	t.Helper()
	claims, err := s.Claims()
	if err != nil {
		return err
	}
	var i isnt
	i.is(len(claims) == len(nodes), "%d claims for %d nodes", len(claims), len(nodes))
	for name, was := range nodes {
		n := &corev1.Node{}
		if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(was), n); err != nil {
			return err
		}
		if n.UID != was.UID || n.DeletionTimestamp != nil || tainted(n, v1.TaintDisrupted, corev1.TaintEffectNoSchedule) || tainted(n, v1.TaintUnregistered, corev1.TaintEffectNoExecute) {
			t.Fatalf("the node of era %s was touched: %+v", name, n)
		}
		at := slices.IndexFunc(claims, func(c v1.NodeClaim) bool { return c.Status.ProviderID == n.Spec.ProviderID })
		if at < 0 {
			i.is(false, "the node of era %s has no claim", name)
			continue
		}
		i.is(known(name, &claims[at], n) == nil, "era %s: %v", name, known(name, &claims[at], n))
	}
	return i.err()
}

// known says what is wrong with a claim and its node.
func known(name string, c *v1.NodeClaim, n *corev1.Node) error {
	var i isnt
	i.is(c.DeletionTimestamp == nil && c.Conditions().Is("Ready") && c.Status.NodeName == n.Name, "claim %s says %s", c.Name, said([]v1.NodeClaim{*c}))
	i.is(!c.Conditions().Is(v1.ConditionDrifted), "claim %s has drifted: %v", c.Name, c.Conditions().Get(v1.ConditionDrifted))
	i.is(slices.ContainsFunc(n.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == c.UID }), "the node's owners are %v", n.OwnerReferences)
	switch name {
	case "one":
		i.is(c.Name == "kept-c3c3c" && c.UID != types.UID(""), "the claim is another: %s", c.Name)
		i.is(c.Labels["karpenter.k8s.aws/ec2nodeclass"] == "default", "the claim's labels are %v", c.Labels)
	case "beta":
		i.is(c.Labels[v1.LabelNodePool] == "kept", "the claim's labels are %v", c.Labels)
	default:
		i.is(c.Labels[v1alpha5.LabelProvisioner] == "old", "the claim's labels are %v", c.Labels)
	}
	for _, key := range []string{v1.LabelRegistered, v1.LabelInitialized} {
		i.is(n.Labels[key] == "true", "the node's label %s is %q", key, n.Labels[key])
	}
	return i.err()
}
