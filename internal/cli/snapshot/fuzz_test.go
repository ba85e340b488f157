package snapshot

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/world"
)

// Whatever a file holds, it is read or refused with words.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "# a remark\n", "a: [", "---\n{}\n---\n[]", `{"kind":"List","items":[null,{"kind":"Pod","metadata":{"name":"p"}}]}`, `{"kind":"Pod"}{"kind":"Node"}`,
		`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"s"},"spec":{"replicas":2,"volumeClaimTemplates":[{"metadata":{"name":"d"}}]}}`,
		`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"c"},"spec":{"selectors":[{"cel":{"expression":"device.driver == 1"}}]}}`,
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","metadata":{"name":"t"},"spec":{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}}}`,
		`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"n"},"spec":{"limits":{"cpu":"-1"},"template":{"spec":{"requirements":[{"key":"a","operator":"Gt","values":["x"]}]}}}}`,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1e99}}}]}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := split("f", data)
		if err != nil {
			return
		}
		objects, err := decodeAll(docs)
		if err != nil {
			if err.Error() == "" {
				t.Error("refused without a word")
			}
			return
		}
		in, err := load(world.NewBuilder(), objects, newDevices())
		if err == nil && in == nil {
			t.Error("neither read nor refused")
		}
	})
}
