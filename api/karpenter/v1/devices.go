package v1

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// +kubebuilder:object:generate=false

// DeviceTemplate is the devices that one driver will publish of nodes that meet the requirements.
type DeviceTemplate struct {
	Requirements []Requirement       `json:"requirements,omitempty"` // on labels of the instance type or the pool; none: all nodes of the pool
	Driver       string              `json:"driver"`
	Devices      []resourcev1.Device `json:"devices"` // as in a ResourceSlice
}

// DeviceTemplates are the devices that the pool states for its nodes, and what is wrong with them. Of what is wrong there are none.
func (p *NodePool) DeviceTemplates() ([]DeviceTemplate, field.ErrorList) {
	text := p.Annotations[AnnotationDevices]
	if text == "" {
		return nil, nil
	}
	at := field.NewPath("metadata", "annotations").Key(AnnotationDevices)
	var out []DeviceTemplate
	if err := decodeStrictly(text, &out); err != nil {
		return nil, field.ErrorList{field.Invalid(at, shortened(text), err.Error()+"; it is a list of templates, each with a driver, devices as in a ResourceSlice, and requirements")}
	}
	var errs field.ErrorList
	for i := range out {
		errs = append(errs, out[i].problems(at.Index(i))...)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return out, nil
}

// decodeStrictly reads one YAML or JSON document, of which every field has to be known.
func decodeStrictly(text string, into any) error {
	data, err := yaml.ToJSON([]byte(text))
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("cannot be read: %w", plainly(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("has more than one document")
	}
	return nil
}

// plainly says without words of Go that a value is not of the kind that belongs there.
func plainly(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	want := map[reflect.Kind]string{reflect.Struct: "an object", reflect.Map: "an object", reflect.Slice: "a list", reflect.String: "text", reflect.Bool: "true or false"}[wrong.Type.Kind()]
	if wrong.Type == reflect.TypeFor[resourcev1.DeviceAttribute]() {
		want = "an object such as {string: A10G} or {int: 4}"
	}
	return fmt.Errorf("%s holds a value of the kind %s, where %s belongs", cmp.Or(wrong.Field, "it"), wrong.Value, cmp.Or(want, "a number"))
}

// mostShown is how much of a text a message repeats.
const mostShown = 60

func shortened(text string) string {
	if len(text) <= mostShown {
		return text
	}
	return text[:mostShown] + "…"
}

func (t *DeviceTemplate) problems(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, r := range t.Requirements {
		errs = append(errs, r.Problems(at.Child("requirements").Index(i))...)
	}
	for _, say := range validation.IsDNS1123Subdomain(t.Driver) {
		errs = append(errs, field.Invalid(at.Child("driver"), t.Driver, say))
	}
	if n := len(t.Devices); n == 0 || n > resourcev1.ResourceSliceMaxDevices {
		errs = append(errs, field.Invalid(at.Child("devices"), n, fmt.Sprintf("there have to be 1 to %d", resourcev1.ResourceSliceMaxDevices)))
	}
	seen := map[string]bool{}
	for i := range t.Devices {
		d, path := &t.Devices[i], at.Child("devices").Index(i)
		for _, say := range validation.IsDNS1123Label(d.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), d.Name, say))
		}
		if seen[d.Name] {
			errs = append(errs, field.Duplicate(path.Child("name"), d.Name))
		}
		seen[d.Name] = true
		errs = append(errs, deviceProblems(path, d)...)
	}
	return errs
}

// deviceProblems says what of a device nothing is planned for, and what no ResourceSlice could have.
func deviceProblems(at *field.Path, d *resourcev1.Device) field.ErrorList {
	var errs field.ErrorList
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"consumesCounters", len(d.ConsumesCounters) > 0},
		{"nodeName", d.NodeName != nil},
		{"nodeSelector", d.NodeSelector != nil},
		{"allNodes", d.AllNodes != nil},
		{"bindsToNode", d.BindsToNode != nil},
		{"bindingConditions", len(d.BindingConditions) > 0},
		{"bindingFailureConditions", len(d.BindingFailureConditions) > 0},
		{"allowMultipleAllocations", d.AllowMultipleAllocations != nil},
	} {
		if f.given {
			errs = append(errs, field.Forbidden(at.Child(f.name), "devices that are shared or depend on others are not planned for"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		a, n := d.Attributes[name], 0
		for _, is := range []bool{a.IntValue != nil, a.BoolValue != nil, a.StringValue != nil, a.VersionValue != nil} {
			if is {
				n++
			}
		}
		if n != 1 {
			errs = append(errs, field.Invalid(at.Child("attributes").Key(string(name)), n, "an attribute has one value: int, bool, string or version"))
		}
	}
	return errs
}
