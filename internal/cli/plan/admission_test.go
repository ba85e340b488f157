package plan_test

import (
	"strings"
	"testing"
)

// What the API server, admission and the controllers of a cluster would have added to objects counts for those of a file.
func TestFilesAreCompleted(t *testing.T) {
	const (
		company = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"near","namespace":"shop","labels":{"app":"db"}},"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"front"},"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
 {"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"db"}},"namespaceSelector":{"matchLabels":{"LABEL":"shop"}}}]}}}}
`
		sandbox = `{"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"kata"},"handler":"kata","overhead":{"podFixed":{"cpu":"4"}},"scheduling":{"nodeSelector":{"topology.kubernetes.io/zone":"nowhere-1a"}}}
`
		boxed = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"boxed"},"spec":{"runtimeClassName":"kata","containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}
`
		disk = `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"common","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"ebs.csi.aws.com","volumeBindingMode":"WaitForFirstConsumer"}
{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":{"storageClassName":"","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"5Gi"}}}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"disk"},"spec":{"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"c"}}],"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}
`
	)
	volume := func(name, size, zone string) string {
		return `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"` + name + `"},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"` + size +
			`"},"csi":{"driver":"ebs.csi.aws.com","volumeHandle":"` + name + `"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["` + zone + `"]}]}]}}}}
`
	}
	tests := map[string]struct {
		why, input string
		refused    string // what is said of a pod that is refused
		on         string // what the one new node is
		note       string
	}{
		"NameOfNamespace": {
			why: "Every namespace has the label of its name, also one that is no object of the file.", input: strings.Replace(company, "LABEL", "kubernetes.io/metadata.name", 1), on: "m5.2xlarge",
		},
		"NameOfWrittenNamespace": {
			why: "So has one that is.", input: strings.Replace(company, "LABEL", "kubernetes.io/metadata.name", 1) + `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`, on: "m5.2xlarge",
		},
		"OtherLabel": {
			why: "What else it is labelled with the file does not say.", input: strings.Replace(company, "LABEL", "team", 1), refused: "pod-affinity", on: "m5.large",
			note: "pods select namespaces by label, and these are not in the input: front, shop",
		},
		"RuntimeClass":        {why: "Admission adds the overhead of its class to a pod, and what it asks of nodes.", input: sandbox + boxed, on: "m5.2xlarge"},
		"RuntimeClassUnknown": {why: "What it would add is not known.", input: boxed, on: "m5.large", note: `RuntimeClass "kata" is not in the input: pod default/boxed counts without its overhead`},
		"NoClass":             {why: "A claim of no class is bound to the smallest volume that is large enough.", input: volume("small", "1Gi", "nowhere-1a") + volume("large", "9Gi", "nowhere-1a") + volume("fits", "5Gi", "nowhere-1b") + disk, on: "m5.large nowhere-1b"},
		"NoVolume":            {why: "None is made for it, though there is a default class.", input: volume("small", "1Gi", "nowhere-1a") + disk, refused: "it needs a PersistentVolume without a class"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, notes, err := run(t, pool+tc.input)
			if err != nil {
				t.Fatal(err)
			}
			machine, zone, _ := strings.Cut(tc.on, " ")
			if tc.on != "" && (!strings.Contains(out, " "+machine) || !strings.Contains(out, zone) || strings.Count(out, "\n+ ") != 1) {
				t.Errorf("%s\nwant one new node %s:\n%s", tc.why, tc.on, out)
			}
			if refused := strings.Contains(out, "! refused"); refused != (tc.refused != "") || !strings.Contains(out, tc.refused) {
				t.Errorf("%s\nwant refused: %q\n%s", tc.why, tc.refused, out)
			}
			if !strings.Contains(notes, tc.note) || (tc.note == "") != (notes == "") {
				t.Errorf("%s\nnotes %q, want %q", tc.why, notes, tc.note)
			}
		})
	}
}
