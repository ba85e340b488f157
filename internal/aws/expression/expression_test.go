package expression_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/aws/expression"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
)

// large is an m5.large whose family allows 29 pods by itself.
func large() (kubelet.Machine, func(kubelet.Config) int64) {
	return kubelet.Machine{Type: "m5.large", VCPUs: 2, MemoryMiB: 8192, DefaultENIs: 3, IPsPerENI: 10}, func(k kubelet.Config) int64 {
		if k.MaxPods != nil {
			return *k.MaxPods
		}
		return 29
	}
}

// compute is what one expression of a setting gives on the machine.
func compute(e kubelet.Expressions) (kubelet.Config, error) {
	p, err := (&expression.Compiler{}).Compile(e)
	if err != nil {
		return kubelet.Config{}, err
	}
	m, pods := large()
	return p.Compute(kubelet.Config{Expressions: e}, m, pods)
}

func TestMaxPods(t *testing.T) {
	for name, test := range map[string]struct {
		why, text string
		want      int64
	}{
		"Variables":     {"Every fact of a type has a name.", "vcpus * 1000 + memory_mib / 8192 * 100 + default_enis * 10 + ips_per_eni", 2140},
		"Default":       {"max_pods is what the family allows by itself.", "max_pods - 2", 27},
		"Type":          {"The type has a name.", "instance_type.startsWith('m5.') ? 58 : 110", 58},
		"Min":           {"Of whole numbers.", "min(default_enis * (ips_per_eni - 1) + 2, 20)", 20},
		"Max":           {"Of whole numbers.", "max(max_pods, 110)", 110},
		"Mixed":         {"Of a whole number and another the result is no whole number.", "max(1, 2.5) * 2.0", 5},
		"MixedOther":    {"In either order.", "min(7.9, 8)", 7},
		"Truncated":     {"A fraction is cut off.", "double(vcpus) * 14.99", 29},
		"NearZero":      {"Toward zero from below, too.", "-0.5 + 0.0 * double(vcpus)", 0},
		"Zero":          {"None is a number.", "0 * vcpus", 0},
		"Largest":       {"As large as a kubelet takes.", "2147483647 + 0 * vcpus", 2147483647},
		"Macro":         {"The macros of CEL are there.", "[10, 20, 30].filter(n, n > 15).exists(n, n == 20) ? 20 : 10", 20},
		"FractionAtTop": {"What is cut off does not count.", "2147483647.5", 2147483647},
	} {
		t.Run(name, func(t *testing.T) {
			text := test.text
			if strings.HasPrefix(text, "-") {
				text = "(" + text + ")"
			}
			k, err := compute(kubelet.Expressions{MaxPods: text})
			if err != nil || k.MaxPods == nil || *k.MaxPods != test.want {
				t.Errorf("%s\n%s: got %v, %v; want %d", test.why, text, k.MaxPods, err, test.want)
			}
		})
	}
}

// Amounts are in the unit of each resource and rounded up, so that types that differ by little share a launch template.
func TestReserved(t *testing.T) {
	e := kubelet.Expressions{
		MaxPods:        "20 + 0 * vcpus",
		KubeReserved:   map[string]string{"cpu": "vcpus * 31", "memory": "11 * max_pods + 255", "ephemeral-storage": "1.5 * 2.0", "pid": "max_pods * 7"},
		SystemReserved: map[string]string{"memory": "memory_mib / 100"},
	}
	p, err := (&expression.Compiler{}).Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	m, pods := large()
	said := map[string]string{"cpu": "50m"}
	k, err := p.Compute(kubelet.Config{Expressions: e, SystemReserved: said}, m, pods)
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{
		{"cpu": "70m", "memory": "480Mi", "ephemeral-storage": "3Gi", "pid": "140"}, // 62, and 475 of the twenty pods that maxPods gives
		{"cpu": "50m", "memory": "96Mi"},                                            // 81
	}
	if diff := cmp.Diff(want, []map[string]string{k.KubeReserved, k.SystemReserved}); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(said) != 1 {
		t.Errorf("the settings of the class were changed: %v", said)
	}
}

// What can be seen without a machine is refused with the place.
func TestInvalid(t *testing.T) {
	for name, test := range map[string]struct {
		e    kubelet.Expressions
		says string
	}{
		"Syntax":     {kubelet.Expressions{MaxPods: "vcpus *"}, "spec.kubelet.maxPods: column 8: Syntax error"},
		"Unknown":    {kubelet.Expressions{MaxPods: "1 + cores"}, "spec.kubelet.maxPods: column 5: undeclared reference to 'cores'"},
		"Kinds":      {kubelet.Expressions{MaxPods: "vcpus * 1.5"}, "found no matching overload for '_*_' applied to '(int, double)'"},
		"NoNumber":   {kubelet.Expressions{MaxPods: "instance_type"}, "spec.kubelet.maxPods: it gives a string, want a number"},
		"Truth":      {kubelet.Expressions{MaxPods: "vcpus > 1"}, "it gives a bool, want a number"},
		"Long":       {kubelet.Expressions{MaxPods: strings.Repeat("1+", 600) + "1"}, "the expression has 1201 bytes, 1024 are allowed"},
		"Deep":       {kubelet.Expressions{MaxPods: strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200)}, "expression recursion limit exceeded: 50"},
		"Resource":   {kubelet.Expressions{KubeReserved: map[string]string{"hugepages-2Mi": "vcpus"}}, "spec.kubelet.kubeReserved.hugepages-2Mi: an expression gives cpu, memory, ephemeral-storage or pid"},
		"All":        {kubelet.Expressions{MaxPods: "x", SystemReserved: map[string]string{"cpu": "y"}}, "undeclared reference to 'x'; spec.kubelet.systemReserved.cpu: column 1: undeclared reference to 'y'"},
		"ThreeOfMin": {kubelet.Expressions{MaxPods: "min(1, 2, 3)"}, "found no matching overload for 'min'"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := (&expression.Compiler{}).Compile(test.e); err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v\nwant %q", err, test.says)
			}
		})
	}
}

// What fails on a machine gives no settings at all.
func TestFailing(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"ByZero":     {"10 / (vcpus - 2)", "division by zero"},
		"Overflow":   {"9223372036854775807 + vcpus", "overflow"},
		"Negative":   {"10 - memory_mib", "it gives -8182, want a number from 0 to 2147483647"},
		"TooLarge":   {"memory_mib * 1000000", "it gives 8192000000"},
		"NotANumber": {"0.0 / (double(vcpus) - 2.0)", "it gives NaN"},
		"Infinite":   {"1.0 / (double(vcpus) - 2.0)", "it gives +Inf"},
		"MaxOfNaN":   {"max(0.0 / (double(vcpus) - 2.0), 1)", "max of what is no number"},
		"Dear":       {"[1,2,3,4,5,6,7,8,9,10].map(a, [1,2,3,4,5,6,7,8,9,10].map(b, [1,2,3,4,5,6,7,8,9,10].map(c, [1,2,3,4,5,6,7,8,9,10].map(d, a*b*c*d)))).size()", "cost limit exceeded"},
		"Dynamic":    {"dyn('x')", "it gives a string, want a number"},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := compute(kubelet.Expressions{MaxPods: test.text, KubeReserved: map[string]string{"cpu": "10 * vcpus"}})
			if err == nil || !strings.Contains(err.Error(), test.says) || !strings.HasPrefix(err.Error(), "spec.kubelet.maxPods: ") {
				t.Errorf("got %v\nwant %q", err, test.says)
			}
			if diff := cmp.Diff(kubelet.Config{}, k); diff != "" {
				t.Errorf("it gives settings\n%s", diff)
			}
		})
	}
}

// FuzzCompile wants an answer for whatever stands in a class, and no amount below zero.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{"vcpus", "min(1,", "[1].map(x, x)", "dyn(1)", "1.0e308 * 10.0", "'a'.matches('(a*)*b') ? 1 : 2", "{'a': 1}.a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := compute(kubelet.Expressions{MaxPods: text})
		if text != "" && err == nil && (k.MaxPods == nil || *k.MaxPods < 0) {
			t.Errorf("%q: %v", text, k.MaxPods)
		}
	})
}
