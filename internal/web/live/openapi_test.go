package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/web"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// What is answered is what the description says, each field and each type.
func TestDescriptionIsTrue(t *testing.T) {
	w := enginetest.Steady(3, 5)
	refused := world.Pod{Key: world.Key{Namespace: "default", Name: "refused"}, Waiting: true, NodeSelector: label.SetOf(label.Is("disk", "ssd"))}
	b := world.NewBuilder()
	for _, err := range []error{
		b.SetPool(*w.Pools()[0]), b.SetCatalog(*w.Catalogs()[0]), b.SetNode(*w.Places()[0].Node), b.SetPod(*w.Pods()[0]), b.SetPod(*w.Pods()[len(w.Pods())-1]), b.SetPod(refused),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w = b.Snapshot(w.At())
	j := journal.New(3, "v1", nil)
	p := provision.Decide(w, provision.Options{})
	j.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: p})
	now := func() *world.World { return w }
	history := live.NewHistory(now, panics.Teller{})
	history.Sample()
	h := web.Handler(web.Config{Decisions: j, World: now, History: history})
	get := func(path string) []byte {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if answer.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
		}
		return answer.Body.Bytes()
	}
	var described struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(get(live.DescriptionPath), &described); err != nil {
		t.Fatal(err)
	}
	frame, err := json.Marshal(live.Of(w, j.All()))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][][]byte{
		"/v1/live":                    {frame}, // the stream itself is the feed's test
		"/v1/history":                 {get("/v1/history")},
		"/v1/nodes/{name}":            {get("/v1/nodes/" + w.Places()[0].Name())},
		"/v1/pods/{namespace}/{name}": {get("/v1/pods/default/refused"), get("/v1/pods/" + w.Pods()[0].String())},
		"/v1/pools/{name}":            {get("/v1/pools/" + w.Pools()[0].ID.Name)},
		"/v1/labels":                  {get("/v1/labels?key=kubernetes.io/arch")},
		"/v1/whatif":                  {get("/v1/whatif?without=node/" + w.Places()[0].Name())},
		"/v1/anew":                    {get("/v1/anew")},
		"/v1/decisions/{digest}":      {get("/v1/decisions/" + url.PathEscape(w.Digest()))},
	}
	for path, about := range described.Paths {
		if len(answers[path]) == 0 {
			t.Errorf("%s is described and not asked here", path)
		}
		content := dig(about, "get", "responses", "200", "content").(map[string]any)
		for _, media := range content {
			for _, text := range answers[path] {
				var v any
				if err := json.Unmarshal(text, &v); err != nil {
					t.Fatal(err)
				}
				for _, fault := range faults(described.Components.Schemas, dig(media, "schema").(map[string]any), v, path) {
					t.Error(fault)
				}
			}
		}
		delete(answers, path)
	}
	for path := range answers {
		t.Errorf("%s is not described", path)
	}
}

// dig follows keys.
func dig(v any, keys ...string) any {
	for _, k := range keys {
		v = v.(map[string]any)[k]
	}
	return v
}

// faults is what a value is otherwise than its schema says; a field that is not described is a fault, too.
func faults(schemas, s map[string]any, v any, at string) []string {
	if ref, ok := s["$ref"].(string); ok {
		s = schemas[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
	}
	kind, _ := s["type"].(string)
	fault := []string{fmt.Sprintf("%s is %v, which is no %s", at, v, kind)}
	switch v := v.(type) {
	case nil:
		if s["nullable"] == true || kind == "" {
			return nil
		}
	case string:
		if kind == "string" {
			return nil
		}
	case bool:
		if kind == "boolean" {
			return nil
		}
	case float64:
		if kind == "number" || kind == "integer" && v == float64(int64(v)) {
			return nil
		}
	case []any:
		if kind == "array" {
			fault = nil
			for i, e := range v {
				fault = append(fault, faults(schemas, s["items"].(map[string]any), e, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		if kind == "object" {
			return objectFaults(schemas, s, v, at)
		}
	}
	return fault
}

func objectFaults(schemas, s, v map[string]any, at string) (out []string) {
	properties, _ := s["properties"].(map[string]any)
	others, _ := s["additionalProperties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, key := range required {
		if _, ok := v[key.(string)]; !ok {
			out = append(out, fmt.Sprintf("%s has no %s", at, key))
		}
	}
	for key, e := range v {
		of, ok := properties[key].(map[string]any)
		if !ok {
			of = others
		}
		if of == nil {
			out = append(out, fmt.Sprintf("%s.%s is not described", at, key))
			continue
		}
		out = append(out, faults(schemas, of, e, at+"."+key)...)
	}
	slices.Sort(out)
	return out
}
