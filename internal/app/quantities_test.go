package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
)

// answers is an API server that says one thing.
type answers struct{ kind, body string }

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a.kind}, "Content-Length": {fmt.Sprint(len(a.body))}},
		Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}, nil
}

// A stored object that cannot be read harms neither the others of its kind nor this process.
func TestUnreadableQuantitiesCountAsNone(t *testing.T) {
	const bad = `{"metadata":{"name":"p"},"spec":{"limits":{"cpu":"1E36854253685363"}}}`
	for _, test := range []struct{ why, path, kind, want string }{
		{"A quantity of ours that does not end is none.", "/apis/karpenter.sh/v1/nodepools", "application/json", strings.Replace(bad, "1E36854253685363", "0", 1)},
		{"So it is in a watch.", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses", "application/json;stream=watch", strings.Replace(bad, "1E36854253685363", "0", 1)},
		{"Kinds of others have no fields that we know.", "/apis/example.com/v1/things", "application/json", bad},
		{"What is no JSON is left alone.", "/apis/karpenter.sh/v1/nodepools", "application/vnd.kubernetes.protobuf", bad},
	} {
		var said []string
		log := funcr.New(func(_, line string) { said = append(said, line) }, funcr.Options{})
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://kubernetes"+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := mended{answers{test.kind, bad}, log}.RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r.Body)
		if err != nil || r.Body.Close() != nil || string(got) != test.want {
			t.Errorf("%s\ngot %s (%v)", test.why, got, err)
		}
		if mended := test.want != bad; mended != (len(said) == 1 && strings.Contains(said[0], "spec.limits.cpu") && strings.Contains(said[0], `"name"="p"`)) {
			t.Errorf("%s\nsaid %q", test.why, said)
		}
	}
}
