package swap

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// says is dump without what every write changes.
func (c cluster) says() map[string]any {
	c.t.Helper()
	out := c.dump()
	for _, o := range out {
		if object, ok := o.(map[string]any); ok {
			for _, field := range []string{"resourceVersion", "generation", "managedFields"} {
				unstructured.RemoveNestedField(object, "metadata", field)
			}
		}
	}
	return out
}

func nodes() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
}

// change writes a field of an object.
func (c cluster) change(name string, value any, fields ...string) {
	c.t.Helper()
	o := c.list(pools("v1"))[name]
	if err := unstructured.SetNestedField(o.Object, value, fields...); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.Resource(pools("v1")).Update(c.t.Context(), &o, metav1.UpdateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// There and back again everything is as it was, by definitions that are as they were.
func TestRestored(t *testing.T) {
	thereAndBack(t, func(cluster) {})
}

// The same where the definitions have both versions and a webhook that has gone.
func TestRestoredWebhook(t *testing.T) {
	long(t)
	thereAndBack(t, func(c cluster) {
		c.late("v1beta1")
		c.webhook()
	})
}

func thereAndBack(t *testing.T, prepare func(cluster)) {
	t.Helper()
	const settled = "--settle=2s" // the garbage collector is real
	c := reach(t)
	c.early(era)
	prepare(c)
	node := documents(t, "apiVersion: v1\nkind: Node\nmetadata: {name: swapped, ownerReferences: [{apiVersion: karpenter.sh/v1beta1, kind: NodeClaim, name: plain-1, uid: "+c.uids("v1beta1")["nodeclaims/plain-1"]+"}]}")[0]
	if _, err := c.Resource(nodes()).Create(t.Context(), &node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Resource(nodes()).Delete(context.WithoutCancel(t.Context()), "swapped", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	before, file, now := c.says(), backup(t), backup(t)
	succeed(t, "--backup", file, settled)
	converted := c.uids("v1")
	said := succeed(t, "--restore", file, "--backup", now, "--dry-run")
	for _, want := range []string{"write   NodeClaim/plain-1 as v1beta1", "write   Node/swapped: its owner references", "delete  EC2NodeClass/default-dense, which the conversion made", "nothing was changed (dry run)"} {
		if !strings.Contains(said, want) {
			t.Errorf("a dry run does not say %q:\n%s", want, said)
		}
	}
	c.converted()
	said = succeed(t, "--restore", file, "--backup", now, settled)
	if diff := cmp.Diff(before, c.says()); diff != "" {
		t.Errorf("it is otherwise than before -before +after\n%s\n%s", diff, said)
	}
	n, err := c.Resource(nodes()).Get(t.Context(), "swapped", metav1.GetOptions{})
	if err != nil || n.GetOwnerReferences()[0].APIVersion != "karpenter.sh/v1beta1" {
		t.Errorf("%v: the node names %+v", err, n.GetOwnerReferences())
	}
	kept, err := os.ReadFile(now)
	if err != nil || !strings.Contains(string(kept), "uid: "+converted["ec2nodeclasses/default-dense"]) || !strings.Contains(string(kept), "expireAfter: 48h") {
		t.Errorf("%v: what was there before it was put back is not kept", err)
	}
	if again := succeed(t, "--restore", file, "--backup", now); !strings.HasPrefix(again, "nothing to do: every kind is stored as v1beta1") {
		t.Errorf("the second time it says\n%s", again)
	}
	succeed(t, "--backup", backup(t), settled) // and there once more
	c.converted()
}

// since is what a controller and a person do after the conversion: a claim of each class comes, and one goes.
const since = `apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: plain-2, labels: {karpenter.sh/nodepool: plain}, finalizers: [karpenter.sh/termination]}
spec:
  expireAfter: 48h
  terminationGracePeriod: 1h
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]
status: {providerID: "aws:///us-west-2a/i-3"}
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: dense-2, labels: {karpenter.sh/nodepool: dense}}
spec:
  expireAfter: Never
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default-dense}
  requirements: []`

// What came since is v1beta1 as well, what somebody changed since is not lost unasked, and what has gone is told.
func TestRestoredLater(t *testing.T) {
	long(t)
	c := reach(t)
	c.early(era)
	before, file := c.says(), backup(t)
	succeed(t, "--backup", file)
	c.make("v1", since)
	c.change("plain", "2000", "spec", "limits", "cpu")
	c.change("dense", map[string]any{"karpenter.sh/nodepool-hash": "99", "karpenter.sh/nodepool-hash-version": "v3", "mine": "x"}, "metadata", "annotations")
	gone := c.list(claims("v1"))["dense-1"]
	gone.SetFinalizers(nil)
	if _, err := c.Resource(claims("v1")).Update(t.Context(), &gone, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Resource(claims("v1")).Delete(t.Context(), "dense-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	made := documents(t, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: fresh}\nspec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}}}")[0]
	if _, err := c.Resource(pools("v1")).Create(t.Context(), &made, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	status, said := run(t, kubetest.Kubeconfig(t), "--restore", file, "--backup", backup(t))
	for _, want := range []string{
		"# NodeClaim/dense-1: it is not there any more, and is not made again", "no object was changed, because these cannot be put back", "NodePool/fresh: it was made after the conversion",
		"NodePool/plain: spec.limits: it was changed after the conversion", "# NodeClaim/plain-2: spec.terminationGracePeriod: v1beta1 has none",
	} {
		if status != verb.Failed || !strings.Contains(said, want) {
			t.Errorf("status %d, it lacks %q:\n%s", status, want, said)
		}
	}
	c.converted()
	if err := c.Resource(pools("v1")).Delete(t.Context(), "fresh", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if status, said = run(t, kubetest.Kubeconfig(t), "--restore", file, "--backup", backup(t)); status != verb.Failed || strings.Contains(said, "fresh") {
		t.Errorf("status %d\n%s", status, said)
	}
	said = succeed(t, "--restore", file, "--backup", backup(t), "--overwrite")
	after := c.says()
	spec := func(name string) map[string]any {
		o, _ := after["nodeclaims/"+name].(map[string]any)
		out, _, _ := unstructured.NestedMap(o, "spec")
		return out
	}
	type m = map[string]any
	ref := m{"apiVersion": "karpenter.k8s.aws/v1beta1", "kind": "EC2NodeClass", "name": "default"}
	if diff := cmp.Diff(m{"nodeClassRef": ref, "requirements": []any{m{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": []any{"m5.large"}}}}, spec("plain-2")); diff != "" {
		t.Errorf("a claim that came since -want +got\n%s", diff)
	}
	if diff := cmp.Diff(m{"nodeClassRef": ref, "requirements": []any{}, "kubelet": m{"maxPods": int64(200), "kubeReserved": m{"cpu": "100m"}}}, spec("dense-2")); diff != "" {
		t.Errorf("a claim that came since, of a class that the conversion made -want +got\n%s", diff)
	}
	o, _ := after["nodeclaims/plain-2"].(map[string]any)
	if id, _, _ := unstructured.NestedString(o, "status", "providerID"); id != "aws:///us-west-2a/i-3" {
		t.Errorf("its machine is %q", id)
	}
	for _, name := range []string{"nodeclaims/plain-2", "nodeclaims/dense-2"} {
		delete(after, name)
	}
	delete(before, "nodeclaims/dense-1")
	dense, _ := before["nodepools/dense"].(map[string]any)
	if err := unstructured.SetNestedStringMap(dense, map[string]string{"mine": "x"}, "metadata", "annotations"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("it is otherwise than before -before +after\n%s\n%s", diff, said)
	}
}

// A restoration that ends after any of its writes leaves objects that are whole, and the next goes on from there; and so does one of a conversion
// that has ended after any of its own.
func TestRestorationInterrupted(t *testing.T) {
	long(t)
	c := reach(t)
	c.early(era)
	before, file, now := c.says(), backup(t), backup(t)
	uids := c.uids("v1beta1")
	line := &severed{}
	kubeconfig := line.serve(t)
	cutShort := func(writes int64, args ...string) bool {
		t.Helper()
		line.left.Store(writes)
		status, said := run(t, kubeconfig, args...)
		if status != verb.OK && !strings.Contains(said, "the line is cut") {
			t.Fatalf("the last write was %v, and it ended otherwise:\n%s", line.last.Load(), said)
		}
		return status == verb.OK
	}
	succeed(t, "--backup", file)
	var cut []string
	for !cutShort(1, "--restore", file, "--backup", now) {
		if cut = append(cut, fmt.Sprint(line.last.Load())); len(cut) > 100 {
			t.Fatal(cut)
		}
	}
	const writes = 3 + 3 + 6 + 3 + 3 // definitions opened, told to store v1beta1; objects; definitions that store nothing else, and closed
	if len(cut) != writes {
		t.Errorf("it was cut %d times, want %d:\n%s", len(cut), writes, strings.Join(cut, "\n"))
	}
	if diff := cmp.Diff(before, c.says()); diff != "" {
		t.Errorf("it is otherwise than before -before +after\n%s", diff)
	}
	for n := int64(1); ; n += 2 {
		file, now := backup(t), backup(t)
		whole := cutShort(n, "--backup", file)
		if n < 3 { // it was undone, or opened and no more
			succeed(t, "--backup", file)
		}
		succeed(t, "--restore", file, "--backup", now)
		if diff := cmp.Diff(before, c.says()); diff != "" {
			t.Fatalf("after %d writes of a conversion it is otherwise than before -before +after\n%s", n, diff)
		}
		if diff := cmp.Diff(uids, c.uids("v1beta1")); diff != "" {
			t.Fatalf("after %d writes of a conversion there are others -before +after\n%s", n, diff)
		}
		if whole {
			break
		}
	}
}

// A file that is no backup of this cluster is refused, and so is what would be lost by a name.
func TestRestoreOfSomethingElse(t *testing.T) {
	c := reach(t)
	c.early(era)
	file := backup(t)
	if err := os.WriteFile(file, []byte("# What `tenon convert --cluster` found, before it changed anything, in cluster another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"is no backup of this cluster":             {"--restore", file},
		"read the backup: ":                        {"--restore", file + ".not"},
		"is the backup that is to be put back":     {"--restore", file, "--backup", file},
		"--overwrite goes with --restore":          {"--overwrite"},
		"--restore names no file: name the backup": {"--restore", ""},
	} {
		if status, said := run(t, kubetest.Kubeconfig(t), args...); status != verb.Unusable || !strings.Contains(said, want) {
			t.Errorf("%q: status %d, it lacks %q:\n%s", args, status, want, said)
		}
	}
}
