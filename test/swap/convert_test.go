package swap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// era are objects of v0.37: two pools of one class whose kubelets differ, and a node of each.
const era = `apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata:
  name: default
  labels: {team: a}
  annotations: {karpenter.k8s.aws/ec2nodeclass-hash: "123", karpenter.k8s.aws/ec2nodeclass-hash-version: v2, note: x}
  finalizers: [karpenter.k8s.aws/termination]
spec:
  amiFamily: AL2023
  role: r
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: c}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: c}}]
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi, volumeType: gp3, encrypted: true}}]
status:
  instanceProfile: c_1
  subnets: [{id: subnet-1, zone: us-west-2a}]
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: plain, annotations: {karpenter.sh/nodepool-hash: "77", karpenter.sh/nodepool-hash-version: v2}}
spec:
  limits: {cpu: 1000}
  disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: 48h}
  template:
    metadata: {labels: {a: b}}
    spec:
      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
status: {resources: {cpu: "4"}}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: dense}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s, expireAfter: Never}
  template:
    spec:
      kubelet: {maxPods: 200, kubeReserved: {cpu: 100m}}
      nodeClassRef: {name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: Exists}]
---
apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata: {name: plain-1, labels: {karpenter.sh/nodepool: plain, node.kubernetes.io/instance-type: m5.large}, annotations: {karpenter.sh/nodepool-hash: "77"}, finalizers: [karpenter.sh/termination]}
spec:
  nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: default}
  requirements: [{key: karpenter.sh/nodepool, operator: In, values: [plain]}, {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]
  resources: {requests: {cpu: "1"}}
status:
  providerID: aws:///us-west-2a/i-1
  nodeName: n1
  capacity: {cpu: "2"}
  conditions:
  - {type: Launched, status: "True", lastTransitionTime: "2024-03-01T00:00:00Z", severity: Info}
  - {type: Registered, status: "True", lastTransitionTime: "2024-03-01T00:00:00Z"}
  - {type: Expired, status: "True", lastTransitionTime: "2024-03-01T00:00:00Z"}
---
apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata: {name: dense-1, labels: {karpenter.sh/nodepool: dense}, finalizers: [karpenter.sh/termination]}
spec:
  kubelet: {maxPods: 200, kubeReserved: {cpu: 100m}}
  nodeClassRef: {name: default}
  requirements: []
status: {providerID: "aws:///us-west-2a/i-2"}`

// uids are those of all objects, by kind and name.
func (c cluster) uids(version string) map[string]string {
	c.t.Helper()
	out := map[string]string{}
	for _, r := range all(version) {
		for name, o := range c.list(r) {
			out[r.Resource+"/"+name] = string(o.GetUID())
		}
	}
	return out
}

// isEra fails the test unless the objects of the era say the same as v1.
func (c cluster) isEra(before map[string]string) {
	c.t.Helper()
	c.converted()
	after := c.uids("v1")
	delete(after, "ec2nodeclasses/default-dense") // which is new
	if diff := cmp.Diff(before, after); diff != "" {
		c.t.Errorf("objects are others than before -before +after\n%s", diff)
	}
	says := func(r schema.GroupVersionResource, name, path string, want any) {
		c.t.Helper()
		o := c.list(r)[name]
		got, _, _ := unstructured.NestedFieldNoCopy(o.Object, strings.Split(path, "|")...)
		if diff := cmp.Diff(want, got); diff != "" {
			c.t.Errorf("%s %s: %s -want +got\n%s", r.Resource, name, path, diff)
		}
	}
	type m = map[string]any
	class, pool, claim := classes("v1"), pools("v1"), claims("v1")
	says(class, "default", "metadata|labels", m{"team": "a"})
	says(class, "default", "metadata|annotations|note", "x")
	says(class, "default", "metadata|finalizers", []any{"karpenter.k8s.aws/termination"})
	says(class, "default", "spec|amiSelectorTerms", []any{m{"alias": "al2023@latest"}})
	says(class, "default", "spec|metadataOptions|httpPutResponseHopLimit", int64(2))
	says(class, "default", "spec|kubelet", nil)
	says(class, "default", "status|subnets", []any{m{"id": "subnet-1", "zone": "us-west-2a"}})
	says(class, "default-dense", "spec|kubelet", m{"maxPods": int64(200), "kubeReserved": m{"cpu": "100m"}})
	says(class, "default-dense", "spec|role", "r")
	says(class, "default-dense", "metadata|finalizers", nil)
	says(pool, "plain", "spec|template|spec|nodeClassRef", m{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"})
	says(pool, "plain", "spec|template|spec|expireAfter", "48h")
	says(pool, "plain", "spec|limits|cpu", "1000")
	says(pool, "plain", "spec|disruption|consolidationPolicy", "WhenEmptyOrUnderutilized")
	says(pool, "plain", "metadata|annotations|karpenter.sh/nodepool-hash", "77")
	says(pool, "plain", "status|resources", m{"cpu": "4"})
	says(pool, "dense", "spec|template|spec|nodeClassRef|name", "default-dense")
	says(pool, "dense", "spec|template|spec|expireAfter", "Never")
	says(claim, "plain-1", "spec|expireAfter", "48h")
	says(claim, "plain-1", "spec|nodeClassRef", m{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"})
	says(claim, "plain-1", "spec|resources", m{"requests": m{"cpu": "1"}})
	says(claim, "plain-1", "metadata|finalizers", []any{"karpenter.sh/termination"})
	says(claim, "plain-1", "status|providerID", "aws:///us-west-2a/i-1")
	says(claim, "plain-1", "status|conditions", []any{
		m{"type": "Launched", "status": "True", "lastTransitionTime": "2024-03-01T00:00:00Z"}, m{"type": "Registered", "status": "True", "lastTransitionTime": "2024-03-01T00:00:00Z"},
	})
	says(claim, "dense-1", "spec|nodeClassRef|name", "default-dense")
	says(claim, "dense-1", "spec|kubelet", nil)
	says(claim, "dense-1", "spec|expireAfter", "Never")
}

// Every way in which a cluster may store objects of v1beta1 ends in the same objects of v1.
func TestStoredWays(t *testing.T) {
	for name, test := range map[string]struct {
		why string
		set func(cluster)
	}{
		"Early": {"The kinds have v1beta1 only, as in v0.32.", func(cluster) {}},
		"Late":  {"They have both versions by a webhook that has gone, as in the last patches of v0.33 to v0.37.", func(c cluster) { c.late("v1beta1"); c.webhook() }},
		"Mixed": {"Some objects are stored as v1 already, as in a v1.0 that was interrupted.", func(c cluster) {
			c.late("v1")
			c.make("v1", "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: new}\nspec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [], expireAfter: 1h}}}")
			c.webhook()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "Early" {
				long(t)
			}
			c := reach(t)
			c.early(era)
			before := c.uids("v1beta1")
			test.set(c)
			file := backup(t)
			said := succeed(t, "--backup", file, "--settle", "1ms")
			if wait, first := strings.Index(said, "waiting 1ms"), strings.Index(said, "wrote "); wait < 0 || wait > first {
				t.Errorf("it does not wait before it writes:\n%s", said)
			}
			if name == "Mixed" {
				n := c.list(pools("v1"))["new"]
				before["nodepools/new"] = string(n.GetUID())
				if got, _, _ := unstructured.NestedString(n.Object, "spec", "template", "spec", "expireAfter"); got != "1h" {
					t.Errorf("the pool of v1 expires after %q", got)
				}
			}
			c.isEra(before)
			kept, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"name: plain-1", "maxPods: 200", "name: nodeclaims.karpenter.sh", "severity: Info", "uid: " + before["nodepools/dense"]} {
				if !strings.Contains(string(kept), want) {
					t.Errorf("%s\nthe backup lacks %q", test.why, want)
				}
			}
			if !strings.Contains(said, "the new class default-dense has these") {
				t.Errorf("nothing is said of the new class:\n%s", said)
			}
			if again := succeed(t, "--backup", file); again != "nothing to do: no kind has objects of v1beta1\n" {
				t.Errorf("the second time it says\n%s", again)
			}
		})
	}
}

// severed is the API server as it is reached by a process that ends after so many writes: what the last of them says is not heard any more.
type severed struct {
	left atomic.Int64 // writes that still change something
	last atomic.Value // what the last one was
}

func (s *severed) serve(t *testing.T) string {
	t.Helper()
	k := kubetest.Config(t)
	via, err := rest.TransportFor(k)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(k.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: via, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.URL.Query().Get("dryRun") != "" || strings.Contains(r.URL.Path, "selfsubject") {
			proxy.ServeHTTP(w, r)
			return
		}
		if s.left.Load() > 0 {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			r.Header.Del("Accept-Encoding")
			answer := httptest.NewRecorder()
			proxy.ServeHTTP(answer, r)
			if changed := versionIn(body) != versionIn(answer.Body.Bytes()); !changed || s.left.Add(-1) > 0 {
				maps.Copy(w.Header(), answer.Header())
				w.WriteHeader(answer.Code)
				_, _ = w.Write(answer.Body.Bytes())
				return
			}
			s.last.Store(r.Method + " " + r.URL.Path)
		}
		http.Error(w, "the line is cut", http.StatusBadGateway)
	}))
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["c"], config.Contexts["c"], config.CurrentContext = &clientcmdapi.Cluster{Server: server.URL}, &clientcmdapi.Context{Cluster: "c"}, "c"
	file := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// versionIn is the version of the object that a message holds.
func versionIn(body []byte) string {
	var o struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return err.Error()
	}
	return o.Metadata.ResourceVersion
}

// A conversion that ends after any of its writes leaves objects that are whole, and the next goes on from there.
func TestInterrupted(t *testing.T) {
	long(t)
	c := reach(t)
	c.early(era)
	before, file := c.uids("v1beta1"), backup(t)
	line := &severed{}
	kubeconfig := line.serve(t)
	var cut []string
	for {
		line.left.Store(1)
		status, said := run(t, kubeconfig, "--backup", file)
		if status == verb.OK {
			break
		}
		if !strings.Contains(said, "the line is cut") || len(cut) > 100 {
			t.Fatalf("after %d writes, the last of them %v, it ended otherwise:\n%s", len(cut), line.last.Load(), said)
		}
		cut = append(cut, fmt.Sprint(line.last.Load()))
		for _, r := range all("v1") { // whatever has been written, it can be read, and is the same object
			version := "v1"
			if _, err := c.Resource(r).List(t.Context(), metav1.ListOptions{}); err != nil {
				version = "v1beta1"
			}
			found := c.list(schema.GroupVersionResource{Group: r.Group, Version: version, Resource: r.Resource})
			for name, uid := range before {
				plural, name, _ := strings.Cut(name, "/")
				if o := found[name]; plural == r.Resource && string(o.GetUID()) != uid {
					t.Fatalf("after %q %s %s is another: %v", line.last.Load(), r.Resource, name, o)
				}
			}
		}
	}
	const writes = 3 + 3 + 6 + 3 + 3 // definitions opened, told to store v1; objects; definitions that store nothing else, and closed
	if len(cut) != writes {
		t.Errorf("it was cut %d times, want %d:\n%s", len(cut), writes, strings.Join(cut, "\n"))
	}
	c.isEra(before)
}

// What cannot be converted is named, all of it, and nothing is changed.
func TestSettleIsNotNegative(t *testing.T) {
	if status, said := run(t, "none", "--settle", "-1s"); status != verb.Unusable || !strings.Contains(said, "--settle is -1s: say how long to wait") {
		t.Errorf("status %d\n%s", status, said)
	}
}

func TestRefused(t *testing.T) {
	const bad = era + `
---
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: ubuntu}
spec: {amiFamily: Ubuntu, role: r, subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: foreign}
spec: {template: {spec: {nodeClassRef: {kind: Other, name: x}, requirements: []}}}`
	const refusedByServer = era + `
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: empty-values}
spec: {template: {spec: {nodeClassRef: {name: default}, requirements: [{key: a, operator: In}]}}}
---
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: no-role}
spec: {amiFamily: AL2023, subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}`
	for name, test := range map[string]struct {
		objects string
		says    []string
	}{
		"Here":   {bad, []string{"EC2NodeClass/ubuntu: spec.amiFamily: an EC2NodeClass knows no Ubuntu", "NodePool/foreign: spec.template.spec.nodeClassRef.kind: Other is no class of AWS"}},
		"Server": {refusedByServer, []string{"NodePool/empty-values: ", "operator In needs at least one value", "EC2NodeClass/no-role: ", "set role or instanceProfile"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := reach(t)
			c.early(test.objects)
			before := c.dump()
			status, said := run(t, kubetest.Kubeconfig(t), "--backup", backup(t))
			for _, want := range append(test.says, "no object was changed, because these cannot be converted") {
				if status != verb.Failed || !strings.Contains(said, want) {
					t.Errorf("status %d, it lacks %q:\n%s", status, want, said)
				}
			}
			if diff := cmp.Diff(before, c.dump()); diff != "" {
				t.Errorf("it was refused, and changed -before +after\n%s", diff)
			}
		})
	}
}

// dump is all objects as they are, and what their kinds say.
func (c cluster) dump() map[string]any {
	c.t.Helper()
	out := map[string]any{}
	for _, r := range all("v1beta1") {
		c.within(func() error {
			_, err := c.Resource(r).List(c.t.Context(), metav1.ListOptions{})
			return err
		})
		for name, o := range c.list(r) {
			out[r.Resource+"/"+name] = o.Object
		}
		crd, err := c.Resource(definitions()).Get(c.t.Context(), nameOf(r), metav1.GetOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		out[nameOf(r)] = []any{crd.Object["spec"], crd.Object["status"].(map[string]any)["storedVersions"]}
	}
	return out
}

// What is in the way is named with what to do about it, and nothing is changed.
func TestInTheWay(t *testing.T) {
	c := reach(t)
	c.early(era)
	before := c.dump()
	make := func(group, plural, namespace, object string) {
		t.Helper()
		o := documents(t, object)[0]
		to := c.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural})
		if _, err := to.Namespace(namespace).Create(t.Context(), &o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := to.Namespace(namespace).Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	ns := kubetest.Namespace(t)
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	make("coordination.k8s.io", "leases", "kube-system", "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: karpenter-leader-election, namespace: kube-system}\nspec: {holderIdentity: karpenter-x, leaseDurationSeconds: 3600, renewTime: \""+now+"\"}")
	refused := func(want string) {
		t.Helper()
		status, said := run(t, kubetest.Kubeconfig(t), "--backup", backup(t))
		if status != verb.Failed || !strings.Contains(said, want) {
			t.Errorf("status %d, it lacks %q:\n%s", status, want, said)
		}
	}
	refused("karpenter-x holds the Lease karpenter-leader-election in kube-system: if nothing renews it, it ends in ")
	make("apps", "deployments", ns, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: karpenter, labels: {app.kubernetes.io/name: karpenter}}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: controller, image: x}]}}}")
	make("admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: validation.webhook.karpenter.sh}\nwebhooks: [{name: validation.webhook.karpenter.sh, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail, clientConfig: {service: {namespace: x, name: karpenter}}, rules: [{apiGroups: [karpenter.sh], apiVersions: [v1beta1], operations: [CREATE], resources: [nodepools]}]}]")
	refused("the controller runs: kubectl scale deployment karpenter -n " + ns + " --replicas=0")
	refused("kubectl delete validatingwebhookconfigurations validation.webhook.karpenter.sh")
	if said := succeed(t, "--dry-run"); !strings.Contains(said, "it would be refused now:\n  the controller runs") || !strings.Contains(said, "write   NodeClaim/plain-1 as v1\n") || !strings.Contains(said, "create  EC2NodeClass/default-dense") {
		t.Errorf("a dry run says\n%s", said)
	}
	file := backup(t)
	if err := os.WriteFile(file, []byte("precious\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, said := run(t, kubetest.Kubeconfig(t), "--backup", file)
	if text, _ := os.ReadFile(file); status == verb.OK || string(text) != "precious\n" || !strings.Contains(said, "is no backup of this cluster: it is not written over") {
		t.Errorf("status %d; a file that was there is %q, and it says\n%s", status, text, said)
	}
	if diff := cmp.Diff(before, c.dump()); diff != "" {
		t.Errorf("it was refused, and changed -before +after\n%s", diff)
	}
}

// A backup of another day is no backup of today.
func TestBackupOfAnotherState(t *testing.T) {
	long(t)
	c := reach(t)
	c.early(era)
	file := backup(t)
	line := &severed{}
	if status, _ := run(t, line.serve(t), "--backup", file); status == verb.OK {
		t.Fatal("nothing could be written, and it succeeded")
	}
	o := c.list(pools("v1beta1"))["plain"]
	o.SetLabels(map[string]string{"changed": "since"})
	if _, err := c.Resource(pools("v1beta1")).Update(t.Context(), &o, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	status, said := run(t, kubetest.Kubeconfig(t), "--backup", file)
	if status != verb.Unusable || !strings.Contains(said, "is a backup of another state, in which NodePool/plain said something else") {
		t.Errorf("status %d\n%s", status, said)
	}
}

// Rights that are missing are named, all of them.
func TestRights(t *testing.T) {
	c := reach(t)
	c.early(era)
	k := kubetest.Config(t)
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: k.Host, CertificateAuthorityData: k.CAData, CertificateAuthority: k.CAFile}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: k.CertData, ClientKeyData: k.KeyData, ClientCertificate: k.CertFile, ClientKey: k.KeyFile, Impersonate: "converter", ImpersonateGroups: []string{"system:authenticated"},
	}
	config.Contexts["c"], config.CurrentContext = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}, "c"
	file := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	role := documents(t, guideRole(t))[0]
	roles := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
	least := slices.DeleteFunc(slices.Clone(rules), func(r any) bool { return fmt.Sprint(r.(map[string]any)["resources"]) != "[customresourcedefinitions]" })
	if err := unstructured.SetNestedSlice(role.Object, least, "rules"); err != nil {
		t.Fatal(err)
	}
	made, err := c.Resource(roles).Create(t.Context(), &role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bind := documents(t, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: converter}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "+role.GetName()+"}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: converter}]")[0]
	bindings := schema.GroupVersionResource{Group: roles.Group, Version: "v1", Resource: "clusterrolebindings"}
	if _, err := c.Resource(bindings).Create(t.Context(), &bind, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(c.Resource(bindings).Delete(ctx, bind.GetName(), metav1.DeleteOptions{}), c.Resource(roles).Delete(ctx, role.GetName(), metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	c.within(func() error {
		status, said := run(t, file, "--backup", backup(t))
		for _, want := range []string{"update nodeclaims.karpenter.sh", "patch nodes,", "list deployments.apps", "update customresourcedefinitions/status.apiextensions.k8s.io"} {
			if status != verb.Failed || !strings.Contains(said, want) {
				return fmt.Errorf("status %d, it lacks %q:\n%s", status, want, said)
			}
		}
		return nil
	})
	if err := unstructured.SetNestedSlice(made.Object, rules, "rules"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Resource(roles).Update(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	before, kept := c.uids("v1beta1"), backup(t)
	c.within(func() error {
		if status, said := run(t, file, "--backup", kept); status != verb.OK {
			return fmt.Errorf("with the role of the guide: status %d\n%s", status, said)
		}
		return nil
	})
	c.isEra(before)
	if status, said := run(t, file, "--restore", kept, "--backup", backup(t)); status != verb.OK {
		t.Errorf("with the role of the guide, back: status %d\n%s", status, said)
	}
}

// guideRole is the ClusterRole that the guide prints.
func guideRole(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/guide/migrate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, role, _ := strings.Cut(string(text), "```yaml\napiVersion: rbac.authorization.k8s.io/v1\n")
	role, _, ok := strings.Cut(role, "```")
	if !ok {
		t.Fatal("the guide has no ClusterRole")
	}
	return "apiVersion: rbac.authorization.k8s.io/v1\n" + role
}
