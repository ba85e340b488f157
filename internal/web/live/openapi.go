package live

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/suppose"
)

// DescriptionPath is where the API describes itself.
const DescriptionPath = "/v1/openapi.json"

// WhatIf is the answer to a supposition.
type WhatIf struct {
	Difference suppose.Difference `json:"difference"`
	Plan       plan.Result        `json:"plan"`
}

// Decided is a decision, and the cluster as it was when it was made.
type Decided struct {
	Decision Decision `json:"decision"`
	Cluster  Frame    `json:"cluster"`
}

// Figures are samples of the last hours, oldest first.
type Figures struct {
	Every   int      `json:"everySeconds"`
	Samples []Sample `json:"samples"`
}

// A call is one of the API.
type call struct {
	path, summary string
	params        []param
	answer        reflect.Type // of the JSON
	said          bool         // answer stands beside format and text
	stream        bool         // it comes as server-sent events
}

// A param is one of a call; those of the path are written {name} there.
type param struct{ name, summary string }

func calls() []call {
	return []call{
		{path: "/v1/live", summary: "Server-sent events: `all` with the whole cluster, then `change` with what differs, `beat` while nothing does.", answer: reflect.TypeFor[Frame](), stream: true},
		{path: "/v1/history", summary: "Figures of the last six hours.", answer: reflect.TypeFor[Figures]()},
		{path: "/v1/nodes/{name}", summary: "Why a node is there, and what keeps it.", answer: reflect.TypeFor[explain.Node](), said: true},
		{path: "/v1/pods/{namespace}/{name}", summary: "Where a pod runs or will, or what every node and pool has against it.", answer: reflect.TypeFor[explain.Pod](), said: true},
		{path: "/v1/pools/{name}", summary: "Limits, budgets and what a pool may buy; NodePools and Provisioners of that name.", answer: reflect.TypeFor[[]explain.Pool](), said: true},
		{path: "/v1/labels", summary: "The values of labels that each node has.", params: []param{{"key", "a label; the values come in the order of the keys"}}, answer: reflect.TypeFor[LabelValues]()},
		{path: "/v1/whatif", summary: "What would be decided if something were otherwise.", params: []param{
			{"without", "node/NAME, claim/NAME, pool/NAME or zone/NAME that is not there"},
			{"sold-out", "TYPE[,ZONE[,CAPACITY-TYPE]] that cannot be had"},
			{"scale", "deployment/NAMESPACE/NAME=N"},
			{"price", "TYPE=PRICE"},
		}, answer: reflect.TypeFor[WhatIf](), said: true},
		{path: "/v1/anew", summary: "What would be bought if nothing were there.", answer: reflect.TypeFor[plan.Result](), said: true},
		{path: "/v1/decisions/{digest}", summary: "A decision, and the cluster as it was when it was made.", answer: reflect.TypeFor[Decided](), said: true},
	}
}

// schema is a part of the description.
type schema = map[string]any

// Description describes the API as OpenAPI, from the types that answer.
func Description() any {
	d := describer{schemas: schema{}, names: map[reflect.Type]string{}}
	paths := schema{}
	for _, c := range calls() {
		answer := d.of(c.answer)
		if c.said {
			answer = schema{
				"type": "object", "required": []string{"format", "answer", "text"},
				"properties": schema{"format": schema{"type": "string"}, "answer": answer, "text": schema{"type": "string", "description": "the same as the command line writes it"}},
			}
		}
		kind := "application/json"
		if c.stream {
			kind = "text/event-stream"
		}
		paths[c.path] = schema{"get": schema{
			"summary": c.summary, "parameters": c.parameters(),
			"responses": schema{
				"200": schema{"description": "the answer", "content": schema{kind: schema{"schema": answer}}},
				"400": schema{"description": "what was asked cannot be read; the text says why"},
				"404": schema{"description": "there is no such thing; the text may say which was meant"},
				"503": schema{"description": "there is no answer now, or this replica does not decide; try again"},
			},
		}}
	}
	return schema{
		"openapi":    "3.0.3",
		"info":       schema{"title": "Tenon", "version": "v1", "description": "What the controller sees and decides. It only reads; fields are only ever added. Money is in millionths of the currency an hour where it is a whole number, and times are seconds since 1970."},
		"paths":      paths,
		"components": schema{"schemas": d.schemas},
	}
}

// parameters are those of a call.
func (c call) parameters() []schema {
	out := []schema{}
	for part := range strings.SplitSeq(c.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			out = append(out, schema{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": schema{"type": "string"}})
		}
	}
	for _, p := range c.params {
		out = append(out, schema{"name": p.name, "in": "query", "description": p.summary + "; may be repeated", "schema": schema{"type": "array", "items": schema{"type": "string"}}})
	}
	return append(out, schema{"name": "from", "in": "query", "description": "leader: of several replicas only the one that decides answers", "schema": schema{"type": "string", "enum": []string{"leader"}}})
}

// describer describes types; those with a name stand among the schemas, once.
type describer struct {
	schemas schema
	names   map[reflect.Type]string
}

// of describes a type as encoding/json writes it.
func (d describer) of(t reflect.Type) schema {
	switch t.Kind() {
	case reflect.Pointer:
		return d.of(t.Elem())
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return schema{"type": "number"}
	case reflect.Slice, reflect.Array:
		return schema{"type": "array", "items": d.of(t.Elem()), "nullable": true}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": d.of(t.Elem()), "nullable": true}
	case reflect.Struct:
		return d.object(t)
	case reflect.Interface:
		return schema{}
	}
	return schema{"type": "integer", "format": "int64"}
}

// object describes a struct, by its name if it has one.
func (d describer) object(t reflect.Type) schema {
	name, known := d.names[t]
	if !known {
		name = d.name(t)
		d.names[t] = name // before its fields: they may have it in them
		out := schema{"type": "object"}
		d.schemas[name] = out
		properties, required := schema{}, []string{}
		d.fields(t, func(f reflect.StructField, key string, always bool) {
			properties[key] = d.of(f.Type)
			if always {
				required = append(required, key)
			}
		})
		out["properties"] = properties
		if len(required) > 0 {
			out["required"] = required
		}
	}
	return schema{"$ref": "#/components/schemas/" + name}
}

// name is that of a type, with its package where another has the same.
func (d describer) name(t reflect.Type) string {
	name := t.Name()
	if _, taken := d.schemas[name]; !taken {
		return name
	}
	pkg := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
	return strings.ToUpper(pkg[:1]) + pkg[1:] + name
}

// fields reports each that is written, those of embedded structs as well, and whether it always is.
func (d describer) fields(t reflect.Type, report func(f reflect.StructField, key string, always bool)) {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		key, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && key == "" && f.Type.Kind() == reflect.Struct:
			d.fields(f.Type, report)
			continue
		case key == "":
			key = f.Name
		}
		report(f, key, !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero"))
	}
}

// description is what Description is as JSON.
var description = sync.OnceValues(func() ([]byte, error) { return json.Marshal(Description()) })

// ServeDescription describes the API.
func ServeDescription(w http.ResponseWriter, _ *http.Request) {
	text, err := description()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client may have gone
}
