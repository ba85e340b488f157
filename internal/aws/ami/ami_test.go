package ami_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/ami"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/catalog"
)

func TestParameters(t *testing.T) {
	const (
		std    = " for karpenter.k8s.aws/instance-accelerator-count DoesNotExist, karpenter.k8s.aws/instance-gpu-count DoesNotExist, kubernetes.io/arch In "
		gpu    = " for karpenter.k8s.aws/instance-gpu-count Exists, kubernetes.io/arch In "
		neuron = " for karpenter.k8s.aws/instance-accelerator-count Exists, kubernetes.io/arch In "
		eks    = "/aws/service/eks/optimized-ami/1.31/"
		rocket = "/aws/service/bottlerocket/aws-k8s-1.31"
		win    = "/aws/service/ami-windows-latest/Windows_Server-"
	)
	tests := map[string]struct {
		alias string
		want  []string
	}{
		"AL2": {"al2@latest", []string{
			eks + "amazon-linux-2/recommended/image_id" + std + "[amd64]",
			eks + "amazon-linux-2-arm64/recommended/image_id" + std + "[arm64]",
			eks + "amazon-linux-2-gpu/recommended/image_id" + gpu + "[amd64]",
			eks + "amazon-linux-2-gpu/recommended/image_id" + neuron + "[amd64]",
		}},
		"AL2Pinned": {"al2@v20240807", []string{
			eks + "amazon-linux-2/amazon-eks-node-1.31-v20240807/image_id" + std + "[amd64]",
			eks + "amazon-linux-2-arm64/amazon-eks-arm64-node-1.31-v20240807/image_id" + std + "[arm64]",
			eks + "amazon-linux-2-gpu/amazon-eks-gpu-node-1.31-v20240807/image_id" + gpu + "[amd64]",
			eks + "amazon-linux-2-gpu/amazon-eks-gpu-node-1.31-v20240807/image_id" + neuron + "[amd64]",
		}},
		"AL2023": {"al2023@latest", []string{
			eks + "amazon-linux-2023/x86_64/standard/recommended/image_id" + std + "[amd64]",
			eks + "amazon-linux-2023/arm64/standard/recommended/image_id" + std + "[arm64]",
			eks + "amazon-linux-2023/x86_64/nvidia/recommended/image_id" + gpu + "[amd64]",
			eks + "amazon-linux-2023/arm64/nvidia/recommended/image_id" + gpu + "[arm64]",
			eks + "amazon-linux-2023/x86_64/neuron/recommended/image_id" + neuron + "[amd64]",
		}},
		"AL2023Pinned": {"al2023@v20240807", []string{
			eks + "amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.31-v20240807/image_id" + std + "[amd64]",
			eks + "amazon-linux-2023/arm64/standard/amazon-eks-node-al2023-arm64-standard-1.31-v20240807/image_id" + std + "[arm64]",
			eks + "amazon-linux-2023/x86_64/nvidia/amazon-eks-node-al2023-x86_64-nvidia-1.31-v20240807/image_id" + gpu + "[amd64]",
			eks + "amazon-linux-2023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.31-v20240807/image_id" + gpu + "[arm64]",
			eks + "amazon-linux-2023/x86_64/neuron/amazon-eks-node-al2023-x86_64-neuron-1.31-v20240807/image_id" + neuron + "[amd64]",
		}},
		"Bottlerocket": {"bottlerocket@v1.20.4", []string{
			rocket + "/x86_64/1.20.4/image_id" + std + "[amd64]",
			rocket + "/x86_64/1.20.4/image_id" + neuron + "[amd64]",
			rocket + "/arm64/1.20.4/image_id" + std + "[arm64]",
			rocket + "-nvidia/x86_64/1.20.4/image_id" + gpu + "[amd64]",
			rocket + "-nvidia/arm64/1.20.4/image_id" + gpu + "[arm64]",
		}},
		"Windows": {"windows2022@latest", []string{
			win + "2022-English-Core-EKS_Optimized-1.31/image_id for kubernetes.io/arch In [amd64], kubernetes.io/os In [windows], node.kubernetes.io/windows-build In [10.0.20348]",
		}},
		"Ubuntu": {"ubuntu@latest", []string{
			"/aws/service/canonical/ubuntu/eks/20.04/1.31/stable/current/amd64/hvm/ebs-gp2/ami-id for kubernetes.io/arch In [amd64]",
			"/aws/service/canonical/ubuntu/eks/20.04/1.31/stable/current/arm64/hvm/ebs-gp2/ami-id for kubernetes.io/arch In [arm64]",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			family, version, err := ami.Alias(tc.alias)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range ami.Parameters(family, version, "1.31") {
				got = append(got, p.Name+" for "+p.Requirements.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.alias, diff)
			}
		})
	}
}

func TestAliasRefused(t *testing.T) {
	for _, alias := range []string{"", "al2023", "al2023@", "@latest", "debian@latest"} {
		if _, _, err := ami.Alias(alias); err == nil || !strings.Contains(err.Error(), "al2023@latest") {
			t.Errorf("alias %q: got %v, want an error that shows what one looks like", alias, err)
		}
	}
}

func TestUnsupported(t *testing.T) {
	tests := map[string]struct {
		family, kubernetes string
		want               bool
	}{
		"AL2Last":          {"AL2", "1.32", false},
		"AL2After":         {"AL2", "1.33", true},
		"AL2023":           {"AL2023", "1.36", false},
		"Windows2025Early": {"Windows2025", "v1.34+", true},
		"Windows2025":      {"Windows2025", "1.35", false},
		"Unreadable":       {"AL2", "main", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ami.Unsupported(tc.family, tc.kubernetes); (got != "") != tc.want {
				t.Errorf("%s on %s: got %q", tc.family, tc.kubernetes, got)
			}
		})
	}
}

// TestFor boots every kind of machine from the images of a family.
func TestFor(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ family, typ, want string }{
		"Standard":          {"AL2023", "m5.large", "x86_64/standard"},
		"ARM":               {"AL2023", "m7g.large", "arm64/standard"},
		"GPU":               {"AL2023", "g5.xlarge", "x86_64/nvidia"},
		"FractionOfGPU":     {"AL2023", "g6f.large", "x86_64/nvidia"},
		"GPUOnARM":          {"AL2023", "g5g.xlarge", "arm64/nvidia"},
		"Neuron":            {"AL2023", "inf2.xlarge", "x86_64/neuron"},
		"AL2Neuron":         {"AL2", "trn1.2xlarge", "amazon-linux-2-gpu"},
		"AL2GPUOnARM":       {"AL2", "g5g.xlarge", ""},
		"RocketNeuron":      {"Bottlerocket", "inf1.xlarge", "aws-k8s-1.31/x86_64"},
		"RocketGPU":         {"Bottlerocket", "p4d.24xlarge", "aws-k8s-1.31-nvidia/x86_64"},
		"Windows":           {"Windows2022", "m5.large", "Server-2022"},
		"WindowsNotOnARM":   {"Windows2022", "m7g.large", ""},
		"UbuntuOnEverytype": {"Ubuntu", "g5.xlarge", "amd64"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var found []ami.Image
			for _, p := range ami.Parameters(tc.family, ami.Latest, "1.31") {
				found = append(found, ami.Image{ID: p.Name, Name: p.Name, Requirements: p.Requirements})
			}
			typ, _ := c.Type(tc.typ)
			shape := types.Shape(typ, types.Settings{Class: nodeclass.Class{Family: tc.family}})
			got, ok := ami.For(ami.Choose(found), shape.Labels)
			if ok != (tc.want != "") || !strings.Contains(got.ID, tc.want) {
				t.Errorf("%s boots %q, want one of %q", tc.typ, got.ID, tc.want)
			}
		})
	}
}

func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

func TestChoose(t *testing.T) {
	amd, arm := ami.OfArch("amd64"), ami.OfArch("arm64")
	found := []ami.Image{
		{ID: "ami-1", Name: "old", Created: day(1), Requirements: amd},
		{ID: "ami-2", Name: "new", Created: day(5), Requirements: amd},
		{ID: "ami-3", Name: "newest but deprecated", Created: day(9), Deprecated: true, Requirements: amd},
		{ID: "ami-4", Name: "only one, deprecated", Created: day(2), Deprecated: true, Requirements: arm},
		{ID: "ami-5", Name: "b", Created: day(3), Requirements: amd.And(label.Is("team", "a"))},
		{ID: "ami-6", Name: "a", Created: day(3), Requirements: amd.And(label.Is("team", "a"))},
	}
	var got []string
	for _, i := range ami.Choose(found) {
		got = append(got, i.ID)
	}
	if diff := cmp.Diff([]string{"ami-2", "ami-6", "ami-4"}, got); diff != "" {
		t.Errorf("one image for each kind of machine, newest first: -want +got\n%s", diff)
	}
}

// TestChooseIsOrderless wants the same answer for any order in which images are found.
func TestChooseIsOrderless(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		found := rapid.SliceOf(rapid.Custom(func(t *rapid.T) ami.Image {
			return ami.Image{
				ID:      "ami-" + rapid.StringMatching(`[0-9]{3}`).Draw(t, "id"),
				Name:    rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"),
				Created: day(rapid.IntRange(1, 3).Draw(t, "day")), Deprecated: rapid.Bool().Draw(t, "deprecated"),
				Requirements: ami.OfArch(rapid.SampledFrom([]string{"amd64", "arm64"}).Draw(t, "arch")),
			}
		})).Draw(t, "images")
		shuffled := rapid.Permutation(found).Draw(t, "order")
		if diff := cmp.Diff(ami.Choose(found), ami.Choose(shuffled)); diff != "" {
			t.Fatalf("the order of images changed the choice: -first +second\n%s", diff)
		}
	})
}

func TestOfTags(t *testing.T) {
	isLabel := func(key string) bool { return strings.HasPrefix(key, "karpenter.k8s.aws/") || key == label.Arch }
	got := ami.OfTags(ami.OfArch("amd64"), map[string]string{
		"karpenter.k8s.aws/instance-family": "m5", "beta.kubernetes.io/arch": "amd64", "Name": "mine",
	}, isLabel).String()
	if want := "karpenter.k8s.aws/instance-family In [m5], kubernetes.io/arch In [amd64]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
