package observe_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

var rewrite = flag.Bool("rewrite", false, "write what is observed as what is wanted")

// Every testdata/NAME.in.yaml holds objects; NAME.out.yaml holds what they are observed as.
func TestPairs(t *testing.T) {
	files, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no pairs: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".in.yaml"), func(t *testing.T) {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := yaml.Marshal(observed(t, in))
			if err != nil {
				t.Fatal(err)
			}
			out := strings.TrimSuffix(file, ".in.yaml") + ".out.yaml"
			if *rewrite {
				if err := os.WriteFile(out, got, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Every field of an item is read from some object of the pairs, or is said by something else.
func TestEveryFieldIsRead(t *testing.T) {
	const cluster, later = "the cluster state joins it", "a plan says it"
	elsewhere := map[string]string{
		"Pod.Planned": later, "Pod.Virtual": "buffers", "Pod.Ending": "jobs", "Pod.Devices": cluster,
		"Node.Devices": cluster, "Node.DevicesLost": cluster, "Pool.Devices": cluster,
	}
	read := map[string]bool{}
	files, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range observed(t, in) {
			fieldsOf(reflect.ValueOf(item), read)
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[world.Pod](), reflect.TypeFor[world.Node](), reflect.TypeFor[world.Claim](), reflect.TypeFor[world.Pool](), reflect.TypeFor[world.PodDisruption](), reflect.TypeFor[world.PoolDisruption](), reflect.TypeFor[world.Guard](), reflect.TypeFor[world.Namespace]()} {
		for i := range of.NumField() {
			name := of.Name() + "." + of.Field(i).Name
			switch why, excused := elsewhere[name]; {
			case !read[name] && !excused:
				t.Errorf("%s is read from no object of testdata: have one say it, or say here what else does", name)
			case read[name] && excused:
				t.Errorf("%s is read from an object, though %s", name, why)
			}
		}
	}
}

// fieldsOf adds the fields of an item that say something, and those of the structs in it, as TYPE.FIELD.
func fieldsOf(v reflect.Value, out map[string]bool) {
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			out[v.Type().Name()+"."+v.Type().Field(i).Name] = true
			fieldsOf(v.Field(i), out)
		}
	}
}

// observed reads the documents of a file. Volumes and the like inform the pods
// after them and have no value of their own.
func observed(t *testing.T, in []byte) []any {
	t.Helper()
	claims := map[world.Key]observe.VolumeClaim{}
	volumes := map[string]observe.PersistentVolume{}
	classes := map[string]observe.StorageClass{}
	unattached := map[string]bool{}
	var csi *storagev1.CSINode
	look := observe.Volumes{
		Claim:  func(k world.Key) (observe.VolumeClaim, bool) { c, ok := claims[k]; return c, ok },
		Volume: func(n string) (observe.PersistentVolume, bool) { c, ok := volumes[n]; return c, ok },
		Class:  func(n string) (observe.StorageClass, bool) { c, ok := classes[n]; return c, ok },

		Unattached: func(driver string) bool { return unattached[driver] },
	}
	var out []any
	for _, doc := range bytes.Split(in, []byte("\n---\n")) {
		var head struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		read(t, doc, &head)
		key := world.Key{Namespace: head.Metadata.Namespace, Name: head.Metadata.Name}
		switch head.Kind {
		case "Pod":
			p := as[corev1.Pod](t, doc)
			out = append(out, look.Bind(observe.Pod(p), observe.Mounts(p)))
		case "Node":
			out = append(out, observe.Node(as[corev1.Node](t, doc), csi))
		case "NodeClaim":
			out = append(out, observe.Claim(as[v1.NodeClaim](t, doc)))
		case "NodePool":
			out = append(out, observe.NodePool(as[v1.NodePool](t, doc)))
		case "Provisioner":
			out = append(out, observe.Provisioner(as[v1alpha5.Provisioner](t, doc)))
		case "DaemonSet":
			d, runs := observe.DaemonSet(as[appsv1.DaemonSet](t, doc))
			out = append(out, map[string]any{"runs": runs, "daemonSet": d})
		case "PodDisruptionBudget":
			out = append(out, observe.Guard(as[policyv1.PodDisruptionBudget](t, doc)))
		case "Namespace":
			out = append(out, observe.Namespace(as[corev1.Namespace](t, doc)))
		case "PersistentVolumeClaim":
			claims[key] = observe.ReadVolumeClaim(as[corev1.PersistentVolumeClaim](t, doc))
		case "PersistentVolume":
			volumes[key.Name] = observe.ReadPersistentVolume(as[corev1.PersistentVolume](t, doc))
		case "StorageClass":
			classes[key.Name] = observe.ReadStorageClass(as[storagev1.StorageClass](t, doc))
		case "CSINode":
			csi = as[storagev1.CSINode](t, doc)
		case "CSIDriver":
			unattached[key.Name] = observe.Unattached(as[storagev1.CSIDriver](t, doc))
		default:
			t.Fatalf("a pair has an object of kind %q", head.Kind)
		}
	}
	return out
}

func as[T any](t *testing.T, doc []byte) *T {
	t.Helper()
	v := new(T)
	read(t, doc, v)
	return v
}

func read(t *testing.T, doc []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(doc, into); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
}

// What the Builder refuses must not come out of here, whatever a pod says.
func FuzzPod(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"p","namespace":"d"},"spec":{"containers":[{"resources":{"requests":{"cpu":"-1","memory":"1e30"}}}]}}`))
	f.Add([]byte(`{"metadata":{"name":"p"},"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{}]}}}}}`))
	f.Add([]byte(`{"metadata":{"name":"p"},"spec":{"topologySpreadConstraints":[{"maxSkew":0}],"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}}`))
	f.Add([]byte(`{"metadata":{"name":"p"},"spec":{"nodeSelector":{"a":"b","":"c"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p corev1.Pod
		if json.Unmarshal(data, &p) != nil || p.Name == "" {
			return
		}
		pod := observe.Pod(&p)
		if len(pod.Problems) > 0 {
			return // it is refused with them
		}
		if err := world.NewBuilder().SetPod(pod); err != nil && !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("observed without a problem, yet refused: %v\n%s", err, data)
		}
	})
}
