package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// pools are the checks of NodePools as objects, and of static ones.
func pools() []check {
	return []check{
		{name: "C25", run: replicas},
		{name: "C30", run: neverStaysNever},
		{name: "Defaults", run: defaults},
		{name: "Columns", run: columns},
		{name: "Hash", run: hashes},
		{name: "Refused", run: refused},
		{name: "Validation", run: validation},
		{name: "Counters", run: countersOfNothing},
		{name: "StaticLimit", run: staticWithinItsLimit},
		{name: "StaticPods", run: staticDespitePods},
		{name: "Transitions", run: timesOfConditions},
		{name: "Unsold", run: nothingIsSold},
	}
}

// apply writes a manifest as kubectl would, and returns the object that was made.
func (s *story) apply(manifest string) (*unstructured.Unstructured, error) {
	s.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
		s.Fatal(err)
	}
	err := s.Client.Create(s.Context(), o)
	if err == nil {
		s.Cleanup(func() { s.Drop(s.T, o) })
	}
	return o, err
}

const minimal = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %s}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
`

// A pool that says nothing gets what Karpenter would give it.
func defaults(s *story) {
	o, err := s.apply(fmt.Sprintf(minimal, s.name))
	if err != nil {
		s.Fatal(err)
	}
	want := map[string]any{
		"budgets": []any{map[string]any{"nodes": "10%"}}, "consolidateAfter": "0s", "consolidationPolicy": "WhenEmptyOrUnderutilized",
	}
	got, _, _ := unstructured.NestedMap(o.Object, "spec", "disruption")
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("spec.disruption -want +got\n%s", diff)
	}
	if after, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "expireAfter"); after != "720h" {
		s.Errorf("expireAfter is %q, want 720h", after)
	}
}

// A pool without nodes says that it has none, of each thing by name.
func countersOfNothing(s *story) {
	p := s.pool()
	s.await(func() error {
		if err := s.get(p); err != nil {
			return err
		}
		var i isnt
		for _, name := range []corev1.ResourceName{"cpu", "memory", "pods", "ephemeral-storage", "nodes"} {
			q, ok := p.Status.Resources[name]
			i.is(ok && q.IsZero(), "status.resources: %s is %q, want 0", name, q.String())
		}
		i.is(p.Status.Nodes != nil && *p.Status.Nodes == 0, "status.nodes is %v, want 0", p.Status.Nodes)
		return i.err()
	})
	s.condition(p, v1.ConditionNodeRegistrationHealthy, metav1.ConditionUnknown, "AwaitingReconciliation")
	if p.Status.NodeClassObservedGeneration == 0 {
		s.Error("status.nodeClassObservedGeneration is missing")
	}
}

// What a user writes of time stays as it was written, Never as well.
func neverStaysNever(s *story) {
	o, err := s.apply(fmt.Sprintf(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %s}
spec:
  disruption: {consolidateAfter: Never}
  template:
    spec:
      expireAfter: Never
      terminationGracePeriod: 90m
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]
`, s.name))
	if err != nil {
		s.Fatal(err)
	}
	other, err := s.apply(fmt.Sprintf(minimal, s.name+"-mixed"))
	if err != nil {
		s.Fatal(err)
	}
	s.patch(other, `{"spec":{"disruption":{"consolidateAfter":"1h90m"},"template":{"spec":{"expireAfter":"48h0m"}}}}`)
	s.pod("web")
	c := s.has(1)[0]
	s.await(func() error { // the controller has written to both
		var i isnt
		for _, x := range []struct {
			o    *unstructured.Unstructured
			want string
			at   []string
		}{
			{o, "Never", []string{"spec", "disruption", "consolidateAfter"}},
			{o, "Never", []string{"spec", "template", "spec", "expireAfter"}},
			{o, "90m", []string{"spec", "template", "spec", "terminationGracePeriod"}},
			{other, "1h90m", []string{"spec", "disruption", "consolidateAfter"}},
			{other, "48h0m", []string{"spec", "template", "spec", "expireAfter"}},
		} {
			if err := s.get(x.o); err != nil {
				return err
			}
			got, _, _ := unstructured.NestedString(x.o.Object, x.at...)
			i.is(got == x.want, "%s of %s is %q, want %q", strings.Join(x.at, "."), x.o.GetName(), got, x.want)
			i.is(x.o.GetAnnotations()[v1.AnnotationPoolHash] != "", "%s has no hash yet", x.o.GetName())
		}
		return i.err()
	})
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(v1.GroupVersion.WithKind("NodeClaim"))
	if err := s.Client.Get(s.Context(), client.ObjectKeyFromObject(&c), raw); err != nil {
		s.Fatal(err)
	}
	after, _, _ := unstructured.NestedString(raw.Object, "spec", "expireAfter")
	grace, _, _ := unstructured.NestedString(raw.Object, "spec", "terminationGracePeriod")
	if span, err := time.ParseDuration(grace); after != "Never" || err != nil || span != 90*time.Minute {
		s.Errorf("the claim expires after %q and has a grace of %q", after, grace)
	}
}

// kubectl get shows the columns that people know, and in them what is so.
func columns(s *story) {
	weight := int32(7)
	p := s.pool(only("m5.large"), func(p *v1.NodePool) { p.Spec.Weight = &weight })
	s.runs(s.pod("web"))
	c := s.ready(1)[0]
	s.await(func() error { // its pool counts it a moment later
		err := s.get(p)
		if err == nil && (p.Status.Nodes == nil || *p.Status.Nodes != 1) {
			err = errors.New("the pool has not counted its node")
		}
		return err
	})
	columns, row := s.table("nodepools", p.Name)
	if diff := cmp.Diff([]string{"Name", "NodeClass", "Nodes", "Ready", "Age", "Weight", "CPU", "Memory"}, columns); diff != "" {
		s.Errorf("columns of NodePools -want +got\n%s", diff)
	}
	memory := p.Status.Resources.Memory().String()
	if diff := cmp.Diff([]string{p.Name, "default", "1", "True", row[4], "7", "2", memory}, row); diff != "" {
		s.Errorf("its row -want +got\n%s", diff)
	}
	columns, row = s.table("nodeclaims", c.Name)
	want := []string{"Name", "Type", "Capacity", "Zone", "Node", "Ready", "Age", "ImageID", "ID", "NodePool", "NodeClass", "Drifted"}
	if diff := cmp.Diff(want, columns); diff != "" {
		s.Errorf("columns of NodeClaims -want +got\n%s", diff)
	}
	want = []string{c.Name, "m5.large", "on-demand", c.Labels[v1.LabelZone], c.Status.NodeName, "True", row[6], c.Status.ImageID, c.Status.ProviderID, p.Name, "default", ""}
	if diff := cmp.Diff(want, row); diff != "" {
		s.Errorf("its row -want +got\n%s", diff)
	}
}

// table is what kubectl get shows of one object.
func (s *story) table(resource, name string) (columns, row []string) {
	s.Helper()
	config := kubetest.Config(s.T)
	via, err := rest.HTTPClientFor(config)
	if err != nil {
		s.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, config.Host+"/apis/karpenter.sh/v1/"+resource+"/"+name, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	res, err := via.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	var table metav1.Table
	if err := errors.Join(json.NewDecoder(res.Body).Decode(&table), res.Body.Close()); err != nil || len(table.Rows) != 1 {
		s.Fatalf("table of %s %s: %d rows, %v", resource, name, len(table.Rows), err)
	}
	for _, c := range table.ColumnDefinitions {
		columns = append(columns, c.Name)
	}
	for _, c := range table.Rows[0].Cells {
		text := ""
		if c != nil {
			text = fmt.Sprint(c)
		}
		row = append(row, text)
	}
	return columns, row
}

// The hash of a pool follows its template, and nothing else.
func hashes(s *story) {
	p := s.pool()
	hash := func() string {
		var out string
		s.await(func() error {
			if err := s.get(p); err != nil {
				return err
			}
			out = p.Annotations[v1.AnnotationPoolHash]
			if ready := p.Conditions().Get("Ready"); out == "" || ready == nil || ready.ObservedGeneration != p.Generation {
				return errors.New("the pool has not been looked at")
			}
			return nil
		})
		return out
	}
	first := hash()
	for _, c := range []struct {
		patch   string
		changes bool
	}{
		{`{"spec":{"weight":7,"limits":{"cpu":"10"},"disruption":{"budgets":[{"nodes":"1"}]}}}`, false},
		{`{"spec":{"template":{"spec":{"requirements":[{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]}}}}`, false},
		{`{"spec":{"template":{"metadata":{"labels":{"team":"hash"}}}}}`, true},
		{`{"spec":{"template":{"metadata":{"labels":null}}}}`, true},
		{`{"spec":{"template":{"spec":{"terminationGracePeriod":"1h"}}}}`, true},
		{`{"spec":{"template":{"spec":{"expireAfter":"1h"}}}}`, true},
		{`{"spec":{"template":{"spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"b","effect":"NoSchedule"}]}}}}`, true},
		{`{"spec":{"template":{"spec":{"taints":[{"key":"b","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"}]}}}}`, false},
	} {
		before := hash()
		s.patch(p, "%s", c.patch)
		if after := hash(); (after != before) != c.changes {
			s.Errorf("after %s the hash is %s, it was %s: want a change %t", c.patch, after, before, c.changes)
		}
		if c.patch == `{"spec":{"template":{"metadata":{"labels":null}}}}` && hash() != first {
			s.Error("a template that is what it was has another hash")
		}
	}
}

// What the API refuses, it refuses with the field's name.
func refused(s *story) {
	p := s.pool()
	for name, c := range map[string]struct{ patch, names string }{
		"Budget":      {`{"spec":{"disruption":{"budgets":[{"nodes":"10","schedule":"@daily"}]}}}`, "budgets"},
		"Percent":     {`{"spec":{"disruption":{"budgets":[{"nodes":"101%"}]}}}`, "nodes"},
		"Days":        {`{"spec":{"template":{"spec":{"expireAfter":"30d"}}}}`, "expireAfter"},
		"Grace":       {`{"spec":{"template":{"spec":{"terminationGracePeriod":"Never"}}}}`, "terminationGracePeriod"},
		"Weight":      {`{"spec":{"weight":101}}`, "weight"},
		"ClassKind":   {`{"spec":{"template":{"spec":{"nodeClassRef":{"kind":"Other"}}}}}`, "nodeClassRef"},
		"Replicas":    {`{"spec":{"replicas":1}}`, "replicas"},
		"Label":       {`{"spec":{"template":{"metadata":{"labels":{"karpenter.sh/nodepool":"x"}}}}}`, "labels"},
		"Domain":      {`{"spec":{"template":{"metadata":{"labels":{"sub.karpenter.sh/x":"x"}}}}}`, "labels"},
		"Hostname":    {`{"spec":{"template":{"metadata":{"labels":{"kubernetes.io/hostname":"x"}}}}}`, "labels"},
		"Requirement": {`{"spec":{"template":{"spec":{"requirements":[{"key":"karpenter.sh/nodepool","operator":"Exists"}]}}}}`, "requirements"},
		"Operator":    {`{"spec":{"template":{"spec":{"requirements":[{"key":"a","operator":"Like","values":["b"]}]}}}}`, "operator"},
		"Gt":          {`{"spec":{"template":{"spec":{"requirements":[{"key":"a","operator":"Gt","values":["x"]}]}}}}`, "requirements"},
		"MinValues":   {`{"spec":{"template":{"spec":{"requirements":[{"key":"a","operator":"In","values":["b"],"minValues":2}]}}}}`, "requirements"},
		"In":          {`{"spec":{"template":{"spec":{"requirements":[{"key":"a","operator":"In","values":[]}]}}}}`, "requirements"},
		"Policy":      {`{"spec":{"disruption":{"consolidationPolicy":"Never"}}}`, "consolidationPolicy"},
		"Effect":      {`{"spec":{"template":{"spec":{"taints":[{"key":"a","effect":"Never"}]}}}}`, "taints"},
	} {
		err := s.Client.Patch(s.Context(), p.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(c.patch)))
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.names) {
			s.Errorf("%s: %s was answered with %v, want a refusal that names %s", name, c.patch, err, c.names)
		}
	}
	for name, c := range map[string]struct{ spec, names string }{
		"StaticWeight": {`"replicas":1,"weight":2`, "weight"},
		"StaticLimits": {`"replicas":1,"limits":{"cpu":"1"}`, "limit"},
		"NoClass":      {`"weight":1`, "nodeClassRef"},
	} {
		class := `"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"},`
		if name == "NoClass" {
			class = ""
		}
		_, err := s.apply(fmt.Sprintf(`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":%q},"spec":{%s,"template":{"spec":{%s"requirements":[]}}}}`, s.name+"-x", c.spec, class))
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.names) {
			s.Errorf("%s was answered with %v, want a refusal that names %s", name, err, c.names)
		}
	}
}

// What the API cannot refuse, the pool's status says; others go on, and so does
// the pool when it is mended.
func validation(s *story) {
	p := s.pool(func(p *v1.NodePool) {
		same := corev1.Taint{Key: "example.com/twice", Effect: corev1.TaintEffectNoSchedule}
		p.Spec.Template.Spec.Taints, p.Spec.Template.Spec.StartupTaints = []corev1.Taint{same}, []corev1.Taint{same}
	})
	c := s.condition(p, v1.ConditionValidationSucceeded, metav1.ConditionFalse, v1.ReasonValidationFailed)
	if !strings.Contains(c.Message, "example.com/twice") {
		s.Errorf("ValidationSucceeded says %q, not what is wrong", c.Message)
	}
	s.condition(p, "Ready", metav1.ConditionFalse, "UnhealthyDependents")
	pod := s.pod("web", func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	})
	s.event(pod, "FailedScheduling", s.name)
	s.patch(p, `{"spec":{"template":{"spec":{"startupTaints":null}}}}`)
	s.condition(p, "Ready", metav1.ConditionTrue, "Ready")
	s.runs(pod)
}

// fixed makes a pool static.
func fixed(n int64) func(*v1.NodePool) {
	return func(p *v1.NodePool) { p.Spec.Replicas = &n }
}

// scale sets the replicas of a pool as kubectl scale does.
func (s *story) scale(p *v1.NodePool, n int32) {
	s.Helper()
	to := &autoscalingv1.Scale{}
	if err := s.Client.SubResource("scale").Get(s.Context(), p, to); err != nil {
		s.Fatal(err)
	}
	to.Spec.Replicas = n
	if err := s.Client.SubResource("scale").Update(s.Context(), p, client.WithSubResourceBody(to)); err != nil {
		s.Fatal(err)
	}
}

// A pool with replicas has that many nodes, with and without pods, and its
// scale follows.
func replicas(s *story) {
	p := s.pool(fixed(3))
	s.ready(3)
	s.scale(p, 5)
	claims := s.ready(5)
	s.await(func() error {
		to := &autoscalingv1.Scale{}
		err := s.Client.SubResource("scale").Get(s.Context(), p, to)
		if err == nil && (to.Status.Replicas != 5 || to.Spec.Replicas != 5) {
			err = fmt.Errorf("the scale says %d of %d", to.Status.Replicas, to.Spec.Replicas)
		}
		return err
	})
	for _, c := range claims {
		if len(c.Spec.Resources.Requests) > 0 {
			s.Errorf("claim %s of a static pool requests %v", c.Name, c.Spec.Resources.Requests)
		}
	}
	pod := s.pod("web")
	at := s.runs(pod)
	s.scale(p, 2)
	s.await(func() error {
		if n := len(s.claims(s.name)); n != 2 {
			return fmt.Errorf("%d claims", n)
		}
		return nil
	})
	if !slices.ContainsFunc(s.ready(2), func(c v1.NodeClaim) bool { return c.Status.NodeName == at }) {
		s.Errorf("the node %s that a pod runs on went, and empty ones stayed", at)
	}
	// One that is deleted is replaced.
	lost := s.claims(s.name)[0]
	s.Drop(s.T, &lost)
	s.gone(&lost)
	s.ready(2)
}

// A static pool buys no more nodes than its limit allows.
func staticWithinItsLimit(s *story) {
	s.pool(fixed(4), func(p *v1.NodePool) { p.Spec.Limits = corev1.ResourceList{"nodes": resource.MustParse("2")} })
	s.ready(2)
	s.stays(3*time.Second, func() error {
		if n := len(s.claims(s.name)); n != 2 {
			return fmt.Errorf("%d claims", n)
		}
		return nil
	})
}

// Pods that wait do not make a static pool larger, and are told so.
func staticDespitePods(s *story) {
	s.pool(fixed(1), only("m5.large"))
	s.ready(1)
	s.runs(s.pod("first"))
	s.event(s.pod("second"), "FailedScheduling", s.name)
	s.stays(3*time.Second, func() error {
		if n := len(s.claims(s.name)); n != 1 {
			return fmt.Errorf("%d claims", n)
		}
		return nil
	})
}

// A pool that is changed is judged again, and times move only where something
// has become otherwise.
func timesOfConditions(s *story) {
	p := s.pool()
	before := map[string]metav1.Condition{}
	for _, kind := range []string{v1.ConditionValidationSucceeded, v1.ConditionNodeClassReady, "Ready"} {
		before[kind] = s.condition(p, kind, metav1.ConditionTrue, kind)
	}
	generation := p.Generation
	time.Sleep(1100 * time.Millisecond) // so that another time would be seen: they are kept to the second
	s.patch(p, `{"spec":{"weight":7}}`)
	for kind, was := range before {
		is := s.condition(p, kind, metav1.ConditionTrue, kind)
		if p.Generation == generation || !is.LastTransitionTime.Equal(&was.LastTransitionTime) {
			s.Errorf("%s has been True since %s, it says since %s in generation %d", kind, was.LastTransitionTime, is.LastTransitionTime, is.ObservedGeneration)
		}
	}
	i := slices.IndexFunc(p.Status.Conditions, func(c metav1.Condition) bool { return c.Type == "Ready" })
	if i != len(p.Status.Conditions)-1 {
		s.Errorf("Ready is condition %d of %d, want the last", i+1, len(p.Status.Conditions))
	}
}

// A pool that no instance type can serve is ready, and says what is in the way.
func nothingIsSold(s *story) {
	p := s.pool(func(p *v1.NodePool) {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, v1.Requirement{
			Key: "karpenter.k8s.aws/instance-family", Operator: corev1.NodeSelectorOpIn, Values: []string{"nobodys"},
		})
	})
	s.condition(p, "Ready", metav1.ConditionTrue, "Ready")
	if e := s.event(p, "NoCompatibleInstanceTypes", "karpenter.k8s.aws/instance-family"); e.Type != corev1.EventTypeWarning {
		s.Errorf("the event is %s", e.Type)
	}
	s.event(s.pod("web"), "FailedScheduling", s.name)
}
