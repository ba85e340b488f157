package types_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cli/types"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// run gives the verb arguments and returns what it prints.
func run(args ...string) (string, error) {
	cmd := types.Command()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// answer is run for answers that must come.
func answer(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestText(t *testing.T) {
	tests := map[string]struct {
		why  string
		args []string
		want string
	}{
		"Table": {
			why:  "Types stand by family and size, prices that were not observed are marked.",
			args: []string{"trn1.32xlarge", "c5.large", "g6f.large"},
			want: `
TYPE           ARCH   VCPU  MEMORY  POD CPU  POD MEMORY  PODS  DEVICES      ON-DEMAND  SPOT     ZONES
c5.large       amd64  2     4Gi     1930m    3114Mi      29    -            0.0850     ~0.0195  a,b,c,d,f
g6f.large      amd64  2     8Gi     1930m    7002Mi      20    <1 L4        0.2020     ~0.0657  a,b,c,d
trn1.32xlarge  amd64  128   512Gi   127610m  481894Mi    247   16 Trainium  21.5000    ~3.2465  b,c,f

3 types of us-east-1; prices in USD an hour, spot in its cheapest zone.
~ made up from other prices, not observed.
`,
		},
		"Hidden": {
			why:  "What cannot be had is counted, so that it is not searched for.",
			args: []string{"a1.large"},
			want: `
No type that can be had in us-east-1 matches.
1 matching type cannot be had in us-east-1; shown with --all.
`,
		},
		"All": {
			why:  "With --all the reason is shown.",
			args: []string{"a1.large", "--all", "--region", "cn-north-1"},
			want: `
TYPE      ARCH   VCPU  MEMORY  POD CPU  POD MEMORY  PODS  DEVICES  ON-DEMAND  SPOT  ZONES
a1.large  arm64  2     4Gi     1930m    3055Mi      29    -        -          -     (its first-generation Graviton cannot boot AL2023)

1 type of cn-north-1; prices in CNY an hour, spot in its cheapest zone.
`,
		},
		"Wide": {
			why:  "Wide adds what else decides between types.",
			args: []string{"c5d.large", "--region", "us-west-1", "-o", "wide"},
			want: `
TYPE       ARCH   VCPU  MEMORY  POD CPU  POD MEMORY  PODS  DEVICES  ON-DEMAND  SPOT     ZONES  NETWORK           LOCAL DISK   POD ENI  EFA  SPOT BY ZONE
c5d.large  amd64  2     4Gi     1930m    3114Mi      29    -        ~0.0960    ~0.0276  a,b    Up to 10 Gigabit  1x50 GB ssd  9        -    a ~0.0276, b ~0.0529

1 type of us-west-1; prices in USD an hour, spot in its cheapest zone.
~ made up from other prices, not observed.
`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := "\n" + answer(t, tc.args...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}

type listed struct {
	Name                            string
	Capacity, Overhead, Allocatable map[string]string
	Labels                          map[string]string
	Unfit, Currency                 string
	Offerings                       []struct {
		Zone, ZoneID, CapacityType string
		Price                      float64
		Synthetic, Available       bool
	}
}

func decode(t *testing.T, args ...string) []listed {
	t.Helper()
	var out []listed
	if err := json.Unmarshal([]byte(answer(t, append(args, "-o", "json")...)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestJSON(t *testing.T) {
	got := decode(t, "--region", "us-west-2", "t3.medium")
	if len(got) != 1 {
		t.Fatalf("got %d types, want one", len(got))
	}
	one := got[0]
	want := map[string]string{"cpu": "1930m", "memory": "3246Mi", "pods": "17", "ephemeral-storage": "17Gi"}
	if diff := cmp.Diff(want, one.Allocatable); diff != "" {
		t.Errorf("allocatable: -want +got\n%s", diff)
	}
	for key, value := range map[string]string{
		"karpenter.k8s.aws/instance-family": "t3", "topology.kubernetes.io/region": "us-west-2",
		"node.kubernetes.io/instance-type": "t3.medium", "kubernetes.io/arch": "amd64",
	} {
		if one.Labels[key] != value {
			t.Errorf("label %s is %q, want %q", key, one.Labels[key], value)
		}
	}
	if _, settled := one.Labels["topology.kubernetes.io/zone"]; settled {
		t.Error("the zone is not settled before an offer is chosen and should not be among the labels")
	}
	var offers []string
	for _, o := range one.Offerings {
		offers = append(offers, fmt.Sprintf("%s %s %t %t", o.ZoneID, o.CapacityType, o.Price > 0, o.Available))
	}
	wantOffers := []string{
		"usw2-az2 on-demand true true", "usw2-az2 spot true true", "usw2-az1 on-demand true true", "usw2-az1 spot true true",
		"usw2-az3 on-demand true true", "usw2-az3 spot true true", "usw2-az4 on-demand true true", "usw2-az4 spot true true",
	}
	if diff := cmp.Diff(wantOffers, offers); diff != "" {
		t.Errorf("offerings: -want +got\n%s", diff)
	}
}

// TestJSONIsComplete wants every type, whether it can be had or not.
func TestJSONIsComplete(t *testing.T) {
	got := decode(t)
	if len(got) != 1364 {
		t.Errorf("got %d types, want all 1364 that Kubernetes runs on", len(got))
	}
	for _, l := range got {
		if l.Offerings == nil || l.Name == "" || len(l.Labels) < 15 {
			t.Errorf("%s: %d labels, offerings %v", l.Name, len(l.Labels), l.Offerings)
		}
		if l.Unfit != "" && !strings.HasPrefix(l.Name, "a1.") {
			t.Errorf("%s is unfit: %s", l.Name, l.Unfit)
		}
	}
}

func TestFilters(t *testing.T) {
	tests := map[string]struct {
		why  string
		args []string
		want string
	}{
		"Names": {why: "Names may hold asterisks.", args: []string{"c5n.?xlarge", "m6g.metal"}, want: "c5n.2xlarge c5n.4xlarge c5n.9xlarge m6g.metal"},
		"Size": {
			why:  "Bounds hold both ends.",
			args: []string{"--family", "c5", "--min-cpu", "4", "--max-cpu", "16", "--max-memory", "16Gi"}, want: "c5.xlarge c5.2xlarge",
		},
		"Price": {why: "A price is that of the cheapest offer.", args: []string{"--family", "c7g", "--capacity-type", "on-demand", "--max-price", "0.08"}, want: "c7g.medium c7g.large"},
		"Label": {
			why:  "A label of nodes is asked for by key and value.",
			args: []string{"-l", "karpenter.k8s.aws/instance-gpu-name=t4", "-l", "karpenter.k8s.aws/instance-gpu-count=4"}, want: "g4dn.12xlarge",
		},
		"Zone": {why: "A zone counts if the type is offered there.", args: []string{"--zone", "us-east-1e", "--family", "m5"}, want: ""},
		"GPU":  {why: "A fraction of a GPU cannot be asked for.", args: []string{"--gpu", "--family", "g6f,gr6f,g4ad", "--sort", "price", "--max-cpu", "8"}, want: "g4ad.xlarge g4ad.2xlarge"},
		"Arch": {why: "Architecture and category narrow.", args: []string{"--arch", "arm64", "--category", "g", "--max-cpu", "4"}, want: "g5g.xlarge"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var names []string
			for _, l := range decode(t, tc.args...) {
				names = append(names, l.Name)
			}
			if got := strings.Join(names, " "); got != tc.want {
				t.Errorf("%s\ngot  %s\nwant %s", tc.why, got, tc.want)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	tests := map[string]struct {
		args  []string
		names string
	}{
		"Region":       {[]string{"--region", "us-moon-1"}, "us-west-2"},
		"Arch":         {[]string{"--arch", "riscv"}, "arm64"},
		"Memory":       {[]string{"--min-memory", "16GB"}, "--min-memory"},
		"Sort":         {[]string{"--sort", "colour"}, "price"},
		"Label":        {[]string{"-l", "gpu"}, "key=value"},
		"Name":         {[]string{"c5.[x"}, "c5.[x"},
		"Slip":         {[]string{"m5.larg"}, `there is no instance type "m5.larg": did you mean "m5.large"?`},
		"Nothing":      {[]string{"computer"}, `there is no instance type "computer"`},
		"Pattern":      {[]string{"m5.*", "nope.*"}, `no instance type is called "nope.*"`},
		"Negative":     {[]string{"--min-cpu=-1"}, "--min-cpu is -1, want zero or more"},
		"AMIFamily":    {[]string{"--ami-family", "Debian"}, "Bottlerocket"},
		"CapacityType": {[]string{"--capacity-type", "free"}, "spot"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := run(tc.args...)
			if err == nil || verb.Status(err) != verb.Unusable || !strings.Contains(err.Error(), tc.names) {
				t.Errorf("%v: got %v (status %d), want unusable input that mentions %s", tc.args, err, verb.Status(err), tc.names)
			}
		})
	}
}

// The help lists every region that the catalogue knows, and no other.
func TestHelpListsTheRegions(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	_, listed, _ := strings.Cut(types.Command().Long, "Regions:\n")
	if diff := cmp.Diff(c.Regions(), strings.Fields(listed)); diff != "" {
		t.Errorf("-known +listed\n%s", diff)
	}
}
