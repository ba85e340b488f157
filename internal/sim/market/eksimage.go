package market

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Release is one publication of the node images of a Kubernetes version.
type Release struct {
	Kubernetes string    // 1.34
	Date       time.Time // names and dates the images; zero means now
	Family     string    // AL2, AL2023, Bottlerocket, Windows, Ubuntu; empty: all
}

// The accounts that publish node images.
const (
	eksImages     = "602401143452"
	windowsImages = "801119661308"
	ubuntuImages  = "099720109477"
)

// recipe says how one image is named and under which parameters it is found.
type recipe struct {
	family  string
	name    string
	arch    string
	owner   string
	root    string
	windows bool
	params  []string
}

// Publish makes the images of a release and points the public parameters at them.
// Images that were there before stay, so that machines of older images drift.
func (m *Market) Publish(r Release) []Image {
	if r.Date.IsZero() {
		r.Date = m.Now()
	}
	chosen := m.unpublished(r)
	var out []Image
	for _, c := range chosen {
		image := Image{
			Name: c.name, Description: "EKS node image, Kubernetes " + r.Kubernetes, Owner: c.owner, OwnerAlias: "amazon",
			Arch: c.arch, RootDevice: cmp.Or(c.root, "/dev/xvda"), Public: true, Created: r.Date, Deprecated: r.Date.AddDate(2, 0, 0),
		}
		if c.windows {
			image.Platform = "windows"
		}
		image = m.AddImage(image)
		for _, p := range c.params {
			m.SetParameter(p, image.ID)
		}
		out = append(out, image)
	}
	return out
}

// unpublished returns the recipes of a release; a second release on one day is dated a day later.
func (m *Market) unpublished(r Release) []recipe {
	taken := map[string]bool{}
	for _, i := range m.Images() {
		taken[i.Name] = true
	}
	for {
		chosen := slices.DeleteFunc(recipes(r), func(c recipe) bool { return r.Family != "" && !strings.EqualFold(r.Family, c.family) })
		if !slices.ContainsFunc(chosen, func(c recipe) bool { return taken[c.name] }) {
			return chosen
		}
		r.Date = r.Date.AddDate(0, 0, 1)
	}
}

func recipes(r Release) []recipe {
	day := "v" + r.Date.UTC().Format("20060102")
	var out []recipe
	out = append(out, al2(r.Kubernetes, day)...)
	out = append(out, al2023(r.Kubernetes, day)...)
	out = append(out, bottlerocket(r.Kubernetes, r.Date)...)
	out = append(out, windows(r.Kubernetes, r.Date)...)
	return append(out, ubuntu(r.Kubernetes, r.Date)...)
}

func al2(k, day string) []recipe {
	var out []recipe
	for _, v := range []struct{ suffix, arch string }{{"", "x86_64"}, {"-arm64", "arm64"}, {"-gpu", "x86_64"}} {
		name := fmt.Sprintf("amazon-eks%s-node-%s-%s", v.suffix, k, day)
		path := fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2%s/", k, v.suffix)
		out = append(out, recipe{
			family: "AL2", name: name, arch: v.arch, owner: eksImages,
			params: []string{path + "recommended/image_id", path + name + "/image_id"},
		})
	}
	return out
}

func al2023(k, day string) []recipe {
	var out []recipe
	for _, v := range []struct{ arch, variant string }{
		{"x86_64", "standard"}, {"arm64", "standard"}, {"x86_64", "nvidia"}, {"arm64", "nvidia"}, {"x86_64", "neuron"},
	} {
		name := fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-%s", v.arch, v.variant, k, day)
		path := fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/%s/", k, v.arch, v.variant)
		out = append(out, recipe{
			family: "AL2023", name: name, arch: v.arch, owner: eksImages,
			params: []string{path + "recommended/image_id", path + name + "/image_id"},
		})
	}
	return out
}

func bottlerocket(k string, date time.Time) []recipe {
	version := fmt.Sprintf("1.%d.%d", date.Year()%100+int(date.Month()), date.Day())
	var out []recipe
	for _, v := range []struct{ suffix, arch string }{{"", "x86_64"}, {"", "arm64"}, {"-nvidia", "x86_64"}, {"-nvidia", "arm64"}} {
		path := fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-%s%s/%s/", k, v.suffix, v.arch)
		out = append(out, recipe{
			family: "Bottlerocket", arch: v.arch, owner: eksImages,
			name:   fmt.Sprintf("bottlerocket-aws-k8s-%s%s-%s-v%s", k, v.suffix, v.arch, version),
			params: []string{path + "latest/image_id", path + version + "/image_id"},
		})
	}
	return out
}

func windows(k string, date time.Time) []recipe {
	var out []recipe
	for _, year := range []string{"2019", "2022", "2025"} {
		base := fmt.Sprintf("Windows_Server-%s-English-Core-EKS_Optimized-%s", year, k)
		out = append(out, recipe{
			family: "Windows", name: base + "-" + date.UTC().Format("2006.01.02"), arch: "x86_64", owner: windowsImages, windows: true,
			root: "/dev/sda1", params: []string{"/aws/service/ami-windows-latest/" + base + "/image_id"},
		})
	}
	return out
}

func ubuntu(k string, date time.Time) []recipe {
	var out []recipe
	for _, v := range []struct{ release, debian, arch string }{{"20.04", "amd64", "x86_64"}, {"20.04", "arm64", "arm64"}, {"22.04", "amd64", "x86_64"}, {"22.04", "arm64", "arm64"}} {
		out = append(out, recipe{
			family: "Ubuntu", arch: v.arch, owner: ubuntuImages, root: "/dev/sda1",
			name:   fmt.Sprintf("ubuntu-eks/k8s_%s/images/hvm-ssd/ubuntu-%s-%s-server-%s", k, v.release, v.debian, date.UTC().Format("20060102")),
			params: []string{fmt.Sprintf("/aws/service/canonical/ubuntu/eks/%s/%s/stable/current/%s/hvm/ebs-gp2/ami-id", v.release, k, v.debian)},
		})
	}
	return out
}
