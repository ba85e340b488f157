package quantity_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tenon-sh/tenon/api/quantity"
)

func TestParse(t *testing.T) {
	for _, s := range []string{"0", "1", "250m", "1.5Gi", "1e3", "10E", "1E3", "-1", "+.5", "5.", "100n", "1e-3", "1e18", "9223372036854775807", "3k"} {
		got, err := quantity.Parse(s)
		if want := resource.MustParse(s); err != nil || got.Cmp(want) != 0 {
			t.Errorf("%q is read as %v (%v), want %v", s, got.String(), err, want.String())
		}
	}
	for s, why := range map[string]string{
		"1E36854253685363":                   "resource.ParseQuantity does not end",
		"1E9999999":                          "every comparison takes seconds",
		"1e-9999999":                         "rounding takes seconds",
		"1e100":                              "no amount needs three digits of exponent",
		"1e3.5":                              "Kubernetes cannot read it, and a list with it cannot be read at all",
		strings.Repeat("9", 65):              "it is longer than any amount",
		strings.Repeat("9", 1<<20):           "its reading takes long",
		"":                                   "it is none",
		"cpu":                                "it is none",
		"1" + strings.Repeat("0", 63) + "Ei": "it is longer than any amount",
	} {
		_, err := quantity.Parse(s)
		switch {
		case err == nil:
			t.Errorf("%.40q is read, but %s", s, why)
		case len(err.Error()) > 400:
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	}
}

const pools = `{"kind":"NodePoolList","items":[
{"metadata":{"annotations":{"limits":"1E36854253685363"},"name":"a"},"spec":{"limits":{"cpu":"1E36854253685363","memory":"1Ti","nodes":5},
 "template":{"metadata":{"labels":{"sha":"1234567e8901","x\"y":"\\"}}}},"status":{"resources":{"cpu":"12"}}},
{"metadata":{"name":"b"},"spec":{"limits":{"resources":{"cpu":"1e3.5"}},"kubeletConfiguration":{"kubeReserved":{"cpu":"1E9999999"}},"kubelet":{"kubeReserved":{"cpu":"0.1*vcpus"}},
 "blockDeviceMappings":[{"ebs":{"volumeSize":"LONG"}}]}}]}`

func TestMend(t *testing.T) {
	text := strings.ReplaceAll(pools, "LONG", strings.Repeat("7", 1000))
	got, found := quantity.Mend([]byte(text))
	want := []quantity.Unreadable{
		{"a", "spec.limits.cpu", "1E36854253685363"},
		{"b", "spec.limits.resources.cpu", "1e3.5"},
		{"b", "spec.kubeletConfiguration.kubeReserved.cpu", "1E9999999"},
		{"b", "spec.blockDeviceMappings[].ebs.volumeSize", strings.Repeat("7", 65)},
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Errorf("found (-want +got):\n%s", d)
	}
	mended := text
	for _, r := range [][2]string{
		{`"cpu":"1E36854253685363"`, `"cpu":"0"`}, {`"1e3.5"`, `"0"`}, {`"1E9999999"`, `"0"`}, {`"` + strings.Repeat("7", 1000) + `"`, `"0"`},
	} {
		mended = strings.ReplaceAll(mended, r[0], r[1])
	}
	if d := cmp.Diff(mended, string(got)); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
}

// A watch is documents one after the other, which come in pieces, and each is read when it is there.
func TestReader(t *testing.T) {
	event := `{"type":"ADDED","object":{"metadata":{"name":"c"},"status":{"capacity":{"cpu":"4","memory":"1e1234567"}}}}` + "\n"
	var found []quantity.Unreadable
	r := quantity.NewReader(io.NopCloser(iotest.OneByteReader(strings.NewReader(event+event))), func(u quantity.Unreadable) { found = append(found, u) })
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(event+event, "1e1234567", "0"); string(got) != want {
		t.Errorf("read %s, want %s", got, want)
	}
	one := quantity.Unreadable{Name: "c", Path: "status.capacity.memory", Value: "1e1234567"}
	if d := cmp.Diff([]quantity.Unreadable{one, one}, found); d != "" {
		t.Errorf("found (-want +got):\n%s", d)
	}

	from, to := io.Pipe()
	go func() { _, _ = to.Write([]byte(event)) }()
	first := make([]byte, 4096)
	if n, err := io.ReadAtLeast(quantity.NewReader(from, func(quantity.Unreadable) {}), first, len(event)-8); err != nil || first[n-1] != '\n' {
		t.Errorf("of an event that is there %q is read (%v)", first[:n], err)
	}
}

// What is in order is left as it is, to the byte, and what is no JSON is left to its reader.
func FuzzMend(f *testing.F) {
	f.Add([]byte(pools))
	f.Add([]byte(`{"limits":{"a":"1","b":"\u0031","c":{"d":["x"]}},"capacity":[{"x":"y"}],}}]]"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, found := quantity.Mend(text)
		if len(found) == 0 && string(got) != string(text) {
			t.Errorf("changed without a word: %q to %q", text, got)
		}
		if json.Valid(text) && !json.Valid(got) {
			t.Errorf("%q became %q", text, got)
		}
		if _, again := quantity.Mend(got); json.Valid(text) && len(again) > 0 {
			t.Errorf("%q is mended twice: %v", text, again)
		}
	})
}

// The CRDs put the same end to quantities.
func TestTheCRDsSayTheSame(t *testing.T) {
	files, err := filepath.Glob("../crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `([eE](\+|-)?(([0-9]+`) || strings.Contains(string(text), `[eE][+-]?[0-9]+)`) {
			t.Errorf("%s: a quantity's exponent has no end: make generate", file)
		}
	}
}
