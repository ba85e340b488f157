package plan_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	engine "github.com/tenon-sh/tenon/engine/plan"
)

func withDevices(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/devices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkDevices looks at a plan for testdata/devices.yaml: one pod goes where a device is free, and the others in pairs to new machines that have two.
func checkDevices(t *testing.T, r engine.Result) {
	t.Helper()
	if r.PendingPods != 4 || r.Unschedulable != 0 || r.ScheduledOnExistingNodes != 1 || r.ScheduledOnNewNodes != 3 || r.NewNodes != 2 {
		t.Errorf("%d pods wait, %d refused, %d on nodes that are there, %d on %d new ones: %+v", r.PendingPods, r.Unschedulable, r.ScheduledOnExistingNodes, r.ScheduledOnNewNodes, r.NewNodes, r.PodErrors)
	}
	for _, n := range r.Nodes {
		if !n.Existing && n.InstanceType != "m5.2xlarge" {
			t.Errorf("a node is of %s, which has no devices", n.InstanceType)
		}
	}
}

// Pods with resource claims are refused, and it is said by what they are planned for: with devices of nodes and of pools.
func TestDevicesOfFiles(t *testing.T) {
	input := withDevices(t)
	r := result(t, input)
	if r.Unschedulable != 4 || !strings.Contains(fmt.Sprint(r.PodErrors), "resource-claims") {
		t.Errorf("without the flag %d pods are refused: %v", r.Unschedulable, r.PodErrors)
	}
	_, notes, err := run(t, input)
	if want := "skipped 1 of kind resource.k8s.io/v1 DeviceClass: pods with resource claims are refused; with --ignore-dra-requests=false they are planned for"; err != nil || !strings.Contains(notes, want) {
		t.Errorf("%v: the notes lack %q:\n%s", err, want, notes)
	}
	checkDevices(t, result(t, input, "--ignore-dra-requests=false"))
	if _, notes, err := run(t, input, "--ignore-dra-requests=false"); err != nil || strings.Contains(notes, "resource.k8s.io") {
		t.Errorf("%v: something is skipped:\n%s", err, notes)
	}
	before, _, _ := strings.Cut(input, "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate")
	_, after, _ := strings.Cut(input, "model == \"A\"'}}]}}]}}}\n---\n")
	for name, tc := range map[string]struct{ why, input, want string }{
		"NoTemplate": {"What a template does not say cannot be known.", before + after, "the ResourceClaim of resourceClaims[gpu] is not there yet"},
		"NoClass":    {"A class that is missing is named.", strings.Replace(input, "kind: DeviceClass\nmetadata: {name: gpu}", "kind: DeviceClass\nmetadata: {name: other}", 1), "there is no DeviceClass gpu"},
		"TooMany":    {"What no machine has is not bought.", strings.Replace(input, "{deviceClassName: gpu, selectors", "{deviceClassName: gpu, count: 3, selectors", 1), "wants 3 of class gpu"},
		"Selector":   {"A selector that cannot be compiled is quoted.", strings.Replace(input, `model == "A"`, `model ==`, 1), "cannot be compiled"},
		"OldVersion": {"Versions before v1 say it by other fields.", strings.Replace(input, "resource.k8s.io/v1\nkind: DeviceClass", "resource.k8s.io/v1beta1\nkind: DeviceClass", 1), "skipped 1 of kind resource.k8s.io/v1beta1 DeviceClass: only those of resource.k8s.io/v1 are read"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, notes, err := run(t, tc.input, "--ignore-dra-requests=false"); err != nil || !strings.Contains(out+notes, tc.want) {
				t.Errorf("%s\n%v: it lacks %q:\n%s%s", tc.why, err, tc.want, out, notes)
			}
		})
	}
}

// objectsOf are the objects of a file by the path of an API server under which they are listed.
func objectsOf(t *testing.T, text string) map[string][]any {
	t.Helper()
	out := map[string][]any{}
	for doc := range strings.SplitSeq(text, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		kind := o["kind"].(string)
		plural := strings.ToLower(kind) + "s"
		if strings.HasSuffix(plural, "ss") {
			plural = strings.TrimSuffix(plural, "s") + "es"
		}
		at := "/apis/" + o["apiVersion"].(string) + "/" + plural
		if kind == "Node" || kind == "Pod" {
			at = "/api/v1/" + plural
		}
		out[at] = append(out[at], o)
	}
	return out
}

// The same of a cluster, whose claims have been made: the controller, which may be told otherwise, is not asked.
func TestDevicesOfACluster(t *testing.T) {
	objects, _, _ := strings.Cut(withDevices(t), "\n---\napiVersion: apps/v1")
	for i := range 4 {
		objects += fmt.Sprintf(`
---
{apiVersion: v1, kind: Pod, metadata: {name: train-%[1]d, namespace: default, uid: u%[1]d}, spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: one}], containers: [{name: a, resources: {requests: {cpu: 500m}}}]},
  status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: made-%[1]d}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: made-%[1]d, namespace: default, ownerReferences: [{apiVersion: v1, kind: Pod, name: train-%[1]d, uid: u%[1]d, controller: true}]},
  spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}}`, i)
	}
	lists := objectsOf(t, objects)
	asked := map[string]bool{}
	api := func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path] = true
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": append([]any{}, lists[r.URL.Path]...)}); err != nil {
			t.Error(err)
		}
	}
	out, notes := asking(t, api, "--catalog", "testdata/catalog.json", "--ignore-dra-requests=false", "-o", "json")
	var r engine.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s", err, notes)
	}
	checkDevices(t, r)
	for _, at := range []string{"resourceclaims", "resourceclaimtemplates", "deviceclasses", "resourceslices"} {
		if !asked["/apis/resource.k8s.io/v1/"+at] {
			t.Errorf("it was not asked for %s", at)
		}
	}
	clear(asked)
	out, _ = asking(t, api, "--catalog", "testdata/catalog.json")
	if asked["/apis/resource.k8s.io/v1/resourceslices"] || !strings.Contains(out, "4 refused") {
		t.Errorf("without the flag devices are asked for, or planned for:\n%s", out)
	}
	out, _ = asking(t, services(func(http.ResponseWriter, *http.Request) { t.Error("the controller was asked") }), "--ignore-dra-requests")
	if !strings.Contains(out, "because --ignore-dra-requests was given") {
		t.Errorf("it does not say why the controller was not asked:\n%s", out)
	}
	if _, _, err := ask(t, http.NotFound, "--ignore-dra-requests=false"); err == nil || !strings.Contains(err.Error(), "does not serve resource.k8s.io/v1, as Kubernetes 1.34 and later do") {
		t.Errorf("of a cluster without devices it says %v", err)
	}
}
