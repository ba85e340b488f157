package v1_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

func TestDeviceTemplates(t *testing.T) {
	for name, c := range map[string]struct {
		why, text string
		want      string // what is wrong has to say this; empty: nothing is wrong
	}{
		"None":      {"A pool need not state any.", "", ""},
		"YAML":      {"YAML is read.", "- driver: gpu.example.com\n  devices:\n  - name: gpu-0\n    attributes: {model: {string: A10G}}\n    capacity: {memory: {value: 24Gi}}\n", ""},
		"JSON":      {"So is JSON.", `[{"driver": "gpu.example.com", "requirements": [{"key": "a", "operator": "In", "values": ["b"]}], "devices": [{"name": "gpu-0"}]}]`, ""},
		"NoList":    {"It has to be a list.", "driver: gpu.example.com", "it is a list of templates"},
		"Unknown":   {"A field that is not known is a mistake.", `[{driver: gpu.example.com, devices: [{name: a, attribute: {}}]}]`, "attribute"},
		"NoDriver":  {"A driver has a name.", `[{devices: [{name: a}]}]`, "driver"},
		"NoDevices": {"Nothing is no template.", `[{driver: gpu.example.com}]`, "1 to 128"},
		"Twice":     {"Names are there once.", `[{driver: gpu.example.com, devices: [{name: a}, {name: a}]}]`, "Duplicate"},
		"Name":      {"They are names.", `[{driver: gpu.example.com, devices: [{name: A_1}]}]`, "name"},
		"Empty":     {"An attribute has a value.", `[{driver: gpu.example.com, devices: [{name: a, attributes: {model: {}}}]}]`, "one value"},
		"Several":   {"And one only.", `[{driver: gpu.example.com, devices: [{name: a, attributes: {model: {int: 1, bool: true}}}]}]`, "one value"},
		"Shared":    {"What is not planned for is said.", `[{driver: gpu.example.com, devices: [{name: a, allowMultipleAllocations: true}]}]`, "not planned for"},
		"Operator":  {"Requirements are those of pools.", `[{driver: gpu.example.com, requirements: [{key: a, operator: Like, values: [b]}], devices: [{name: a}]}]`, "Like"},
		"Attribute": {"An attribute that is not written as in a ResourceSlice is said in plain words.", "- driver: gpu.example.com\n  devices: [{name: gpu-0, attributes: {productName: A10G}}]\n", "devices.attributes holds a value of the kind string, where an object such as {string: A10G} or {int: 4} belongs;"},
		"Listed":    {"So is a list.", `[{driver: gpu.example.com, devices: {name: a}}]`, "devices holds a value of the kind object, where a list belongs"},
		"Quantity":  {"A capacity is a quantity.", `[{driver: gpu.example.com, devices: [{name: a, capacity: {memory: {value: much}}}]}]`, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{v1.AnnotationDevices: c.text}}}
			got, wrong := p.DeviceTemplates()
			switch said := wrong.ToAggregate(); {
			case c.want == "" && said != nil:
				t.Errorf("%s It is said: %v", c.why, said)
			case c.want != "" && (said == nil || !strings.Contains(said.Error(), c.want) || !strings.Contains(said.Error(), "karpenter.sh/devices") || got != nil):
				t.Errorf("%s It is said: %v, want %q; there are %d", c.why, said, c.want, len(got))
			case c.want == "" && c.text != "" && (len(got) != 1 || got[0].Devices[0].Name == ""):
				t.Errorf("%s It reads %+v", c.why, got)
			}
		})
	}
}
