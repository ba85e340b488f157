package template_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/template"
)

var update = flag.Bool("update", false, "write the golden files again")

func plain() template.Settings {
	return template.Settings{
		Class: "default", Pool: "general", Image: "ami-1", UserData: "boot", Profile: "nodes", Groups: []string{"sg-1", "sg-2"},
		Metadata: nodeclass.Metadata{Endpoint: "enabled", IPv6: "disabled", Tokens: "required", HopLimit: 1},
		Tags:     map[string]string{"kubernetes.io/cluster/demo": "owned", "team": "a"},
	}
}

// The requests that make launch templates are kept as they should look, field by field.
func TestInput(t *testing.T) {
	tests := map[string]struct {
		why    string
		change func(*template.Settings)
	}{
		"plain":  {"What a class that sets nothing gets.", func(*template.Settings) {}},
		"legacy": {"The older era names and tags templates in its own way and knows no reservations.", func(s *template.Settings) { s.Legacy = true }},
		"spot":   {"A spot request is tagged too.", func(s *template.Settings) { s.Spot = true }},
		"disks": {"Every property of a volume, and only what is set.", func(s *template.Settings) {
			s.Disks = []nodeclass.Disk{
				{Device: "/dev/xvda", SizeGiB: 20, Type: "gp3", Encrypted: aws.Bool(true)},
				{
					Device: "/dev/xvdb", SizeGiB: 100, Type: "io2", IOPS: aws.Int64(4000), Throughput: aws.Int64(500), Snapshot: "snap-1",
					KMSKey: "key", InitRate: aws.Int32(200), DeleteAtEnd: aws.Bool(false),
				},
			}
		}},
		"public": {"A public address needs the first interface to be listed.", func(s *template.Settings) { s.PublicIP = aws.Bool(true) }},
		"prefixes": {"So do prefixes and the tracking of connections.", func(s *template.Settings) {
			s.IPPrefixes, s.Tracking = aws.Int32(2), &nodeclass.Tracking{UDP: aws.Int32(30)}
		}},
		"fabric": {"Each card gets a fabric adapter, the first one as the machine's own interface.", func(s *template.Settings) { s.EFAs = 3 }},
		"own-cards": {"What the class lists wins over what its pods would get.", func(s *template.Settings) {
			s.EFAs, s.Interfaces = 3, []nodeclass.Interface{{}, {Card: 1, Device: 1, EFAOnly: true}}
		}},
		"ipv6":        {"The first interface gets an address of the new kind.", func(s *template.Settings) { s.IPv6, s.PublicIP = true, aws.Bool(false) }},
		"reservation": {"Only the reservation that was chosen is used.", func(s *template.Settings) { s.Reservation = "cr-1" }},
		"block":       {"A capacity block is a market of its own.", func(s *template.Settings) { s.Reservation, s.Block = "cr-1", true }},
		"interrupts":  {"So is a reservation that can be taken back.", func(s *template.Settings) { s.Reservation, s.Interrupts = "cr-1", true }},
		"placed":      {"Placement and tenancy stand together.", func(s *template.Settings) { s.Placement, s.Dedicated = "pg-1", true }},
		"nested":      {"Virtual machines within the machine.", func(s *template.Settings) { s.Nested = "enabled" }},
		"enclaves":    {"Memory that not even the machine's administrator sees.", func(s *template.Settings) { s.Enclaves = true }},
		"monitored":   {"Metrics by the minute.", func(s *template.Settings) { s.Monitoring = true }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := plain()
			tc.change(&s)
			got, err := json.MarshalIndent(prune(s.Input("demo")), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(file, append(got, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// prune leaves out what is empty, so that the files show what was said.
func prune(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		return err
	}
	return pruned(out)
}

func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e = pruned(e); e == nil {
				delete(v, k)
			} else {
				v[k] = e
			}
		}
		if len(v) == 0 {
			return nil
		}
		return v
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
		return v
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}

// Equal settings share a template; whatever differs is another.
func TestName(t *testing.T) {
	names := map[string]string{}
	for what, change := range map[string]func(*template.Settings){
		"nothing": func(*template.Settings) {}, "image": func(s *template.Settings) { s.Image = "ami-2" },
		"user data": func(s *template.Settings) { s.UserData = "other" }, "pool": func(s *template.Settings) { s.Pool = "other" },
		"tags": func(s *template.Settings) { s.Tags = map[string]string{"team": "b"} }, "tenancy": func(s *template.Settings) { s.Dedicated = true },
		"reservation": func(s *template.Settings) { s.Reservation = "cr-1" }, "era": func(s *template.Settings) { s.Legacy = true },
	} {
		s := plain()
		change(&s)
		name := s.Name("demo")
		if other, taken := names[name]; taken {
			t.Errorf("%s and %s have one name, %s", what, other, name)
		}
		names[name] = what
	}
	if plain().Name("demo") != plain().Name("demo") {
		t.Error("equal settings have two names")
	}
}
