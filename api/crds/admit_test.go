package crds_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/api/crds"
)

// server says what an API server with the CRDs would say, without being one: the same libraries in the same order.
type server map[string]*kind

type kind struct {
	crd    *apiextensions.CustomResourceDefinition
	schema *schema.Structural
	values validation.SchemaValidator
	rules  *cel.Validator
}

func newServer(t *testing.T) server {
	t.Helper()
	s := server{}
	for _, text := range crds.All() {
		v1 := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, v1); err != nil {
			t.Fatal(err)
		}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(v1)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&v1.Spec)
		crd := &apiextensions.CustomResourceDefinition{}
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(v1, crd, nil); err != nil {
			t.Fatal(err)
		}
		crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
		open := crd.Spec.Validation
		if open == nil {
			open = crd.Spec.Versions[0].Schema
		}
		structural, err := schema.NewStructural(open.OpenAPIV3Schema)
		if err != nil {
			t.Fatalf("%s: %v", crd.Name, err)
		}
		values, _, err := validation.NewSchemaValidator(open.OpenAPIV3Schema)
		if err != nil {
			t.Fatalf("%s: %v", crd.Name, err)
		}
		s[crd.Spec.Names.Kind] = &kind{crd, structural, values, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
	}
	return s
}

// create returns what the object becomes and what is wrong with it, as `kubectl apply` would see it.
func (s server) create(t *testing.T, object map[string]any) field.ErrorList {
	t.Helper()
	return s.write(t, object, nil)
}

// write is create, or with an old object update.
func (s server) write(t *testing.T, object, old map[string]any) field.ErrorList {
	t.Helper()
	k := s[fmt.Sprint(object["kind"])]
	if k == nil {
		t.Fatalf("no kind %v", object["kind"])
	}
	if want := k.crd.Spec.Group + "/" + k.crd.Spec.Versions[0].Name; object["apiVersion"] != want {
		t.Fatalf("apiVersion is %v, want %s", object["apiVersion"], want)
	}
	var errs field.ErrorList
	unknown := pruning.PruneWithOptions(object, k.schema, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		errs = append(errs, field.Invalid(field.NewPath(path), nil, "unknown field"))
	}
	if len(errs) > 0 {
		return errs
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.schema)
	defaulting.Default(object, k.schema)
	if old != nil {
		errs = validation.ValidateCustomResourceUpdate(nil, object, old, k.values)
	} else {
		errs = validation.ValidateCustomResource(nil, object, k.values)
	}
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.schema, object)...)
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return errs // the server does not look further
		}
	}
	var before any
	if old != nil {
		before = old
	}
	more, _ := k.rules.Validate(t.Context(), nil, k.schema, object, before, celconfig.RuntimeCELCostBudget)
	return append(errs, more...)
}

// documents splits a file into its objects.
func documents(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var object map[string]any
		err := d.Decode(&object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if object != nil {
			all = append(all, sent(object).(map[string]any))
		}
	}
}

// sent is what kubectl apply makes of a value before it sends it: whole numbers are integers, and a field that is null
// is left out.
func sent(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if e == nil {
				delete(x, k)
				continue
			}
			x[k] = sent(e)
		}
	case []any:
		for i, e := range x {
			x[i] = sent(e)
		}
	case float64:
		if x == float64(int64(x)) {
			return int64(x)
		}
	}
	return v
}
