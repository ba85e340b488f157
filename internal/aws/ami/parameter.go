package ami

import (
	"fmt"
	"strconv"
	"strings"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
)

// Parameter is a public parameter of SSM whose value is the id of an image.
type Parameter struct {
	Name         string
	Requirements label.Set // of the machines the image is for
}

// Latest is the version of an alias that follows releases.
const Latest = "latest"

// Alias splits an alias into family, as it is written in a class, and version.
func Alias(alias string) (family, version string, err error) {
	name, version, ok := strings.Cut(alias, "@")
	for _, f := range []string{"AL2", "AL2023", "Bottlerocket", "Ubuntu", "Windows2019", "Windows2022", "Windows2025"} {
		if ok && version != "" && strings.EqualFold(f, name) {
			return f, version, nil
		}
	}
	return "", "", fmt.Errorf("alias %q is not family@version, such as al2023@latest or bottlerocket@v1.20.4", alias)
}

// Unsupported says why a family has no images for a minor version of Kubernetes; empty if it has.
func Unsupported(family, kubernetes string) string {
	minor, ok := minorOf(kubernetes)
	switch {
	case !ok:
		return ""
	case family == "AL2" && minor >= 33:
		return fmt.Sprintf("there is no AL2 image for Kubernetes %s; the last was for 1.32: use al2023", kubernetes)
	case family == "Windows2025" && minor < 35:
		return fmt.Sprintf("there is no Windows2025 image for Kubernetes %s; the first is for 1.35: use windows2022", kubernetes)
	}
	return ""
}

func minorOf(kubernetes string) (int, bool) {
	parts := strings.Split(strings.TrimPrefix(kubernetes, "v"), ".")
	if len(parts) < 2 {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(parts[1], "+"))
	return n, err == nil
}

// Parameters are the parameters that name a family's images of a version, for a
// minor version of Kubernetes such as 1.36. One parameter may stand there more
// than once, for machines of different kinds.
func Parameters(family, version, kubernetes string) []Parameter {
	switch family {
	case "AL2":
		return al2(version, kubernetes)
	case "AL2023":
		return al2023(version, kubernetes)
	case "Bottlerocket":
		return bottlerocket(version, kubernetes)
	case "Ubuntu":
		return ubuntu(kubernetes)
	case "Windows2019":
		return windows("2019", "10.0.17763", kubernetes)
	case "Windows2022":
		return windows("2022", "10.0.20348", kubernetes)
	case "Windows2025":
		return windows("2025", "10.0.26100", kubernetes)
	}
	return nil
}

// variant is what kind of machines an image is for, besides their architecture.
type variant int

const (
	standard variant = iota // without accelerators
	nvidia                  // with GPUs
	neuron                  // with AWS' own accelerators
)

func machines(arch string, v variant) label.Set {
	const gpus, accelerators = awsv1.LabelInstanceGPUCount, awsv1.LabelInstanceAcceleratorCount
	set := OfArch(arch)
	switch v {
	case nvidia:
		return set.And(label.Any(gpus))
	case neuron:
		return set.And(label.Any(accelerators))
	}
	return set.And(label.Requirement{Key: gpus}).And(label.Requirement{Key: accelerators})
}

func al2(version, kubernetes string) []Parameter {
	name := func(suffix string) string {
		release := "recommended"
		if version != Latest {
			release = "amazon-eks" + suffix + "-node-" + kubernetes + "-" + version
		}
		return "/aws/service/eks/optimized-ami/" + kubernetes + "/amazon-linux-2" + suffix + "/" + release + "/image_id"
	}
	return []Parameter{
		{name(""), machines("amd64", standard)},
		{name("-arm64"), machines("arm64", standard)},
		{name("-gpu"), machines("amd64", nvidia)},
		{name("-gpu"), machines("amd64", neuron)},
	}
}

func al2023(version, kubernetes string) []Parameter {
	name := func(arch, variant string) string {
		release := "recommended"
		if version != Latest {
			release = strings.Join([]string{"amazon-eks-node-al2023", arch, variant, kubernetes, version}, "-")
		}
		return "/aws/service/eks/optimized-ami/" + kubernetes + "/amazon-linux-2023/" + arch + "/" + variant + "/" + release + "/image_id"
	}
	return []Parameter{
		{name("x86_64", "standard"), machines("amd64", standard)},
		{name("arm64", "standard"), machines("arm64", standard)},
		{name("x86_64", "nvidia"), machines("amd64", nvidia)},
		{name("arm64", "nvidia"), machines("arm64", nvidia)},
		{name("x86_64", "neuron"), machines("amd64", neuron)},
	}
}

func bottlerocket(version, kubernetes string) []Parameter {
	name := func(suffix, arch string) string {
		return "/aws/service/bottlerocket/aws-k8s-" + kubernetes + suffix + "/" + arch + "/" + strings.TrimPrefix(version, "v") + "/image_id"
	}
	return []Parameter{
		{name("", "x86_64"), machines("amd64", standard)},
		{name("", "x86_64"), machines("amd64", neuron)},
		{name("", "arm64"), machines("arm64", standard)},
		{name("-nvidia", "x86_64"), machines("amd64", nvidia)},
		{name("-nvidia", "arm64"), machines("arm64", nvidia)},
	}
}

// ubuntu had one release in the v1alpha5 era, and its images are for all machines of an architecture.
func ubuntu(kubernetes string) []Parameter {
	var out []Parameter
	for _, arch := range []string{"amd64", "arm64"} {
		out = append(out, Parameter{"/aws/service/canonical/ubuntu/eks/20.04/" + kubernetes + "/stable/current/" + arch + "/hvm/ebs-gp2/ami-id", OfArch(arch)})
	}
	return out
}

func windows(year, build, kubernetes string) []Parameter {
	return []Parameter{{
		"/aws/service/ami-windows-latest/Windows_Server-" + year + "-English-Core-EKS_Optimized-" + kubernetes + "/image_id",
		OfArch("amd64").And(label.Is(label.OS, "windows")).And(label.Is(label.WindowsBuild, build)),
	}}
}
