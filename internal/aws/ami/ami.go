// Package ami decides which machine images a class boots, and which of them a type of machine boots.
//
// It is a function of values: which parameters of SSM name a family's images,
// and which of the images found are used. Asking SSM and EC2 is done elsewhere.
package ami

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
)

// Image is a machine image that was found.
type Image struct {
	ID, Name     string
	Created      time.Time
	Deprecated   bool
	Requirements label.Set // of the machines it is for
}

// Arch is the architecture as Kubernetes calls it, of an image's as EC2 calls it.
// Images of any other cannot be used.
func Arch(ec2 string) (arch string, ok bool) {
	switch ec2 {
	case "x86_64":
		return "amd64", true
	case "arm64":
		return "arm64", true
	}
	return "", false
}

// OfArch are the requirements of an image of which nothing but the architecture is known.
func OfArch(arch string) label.Set { return label.SetOf(label.Is(label.Arch, arch)) }

// OfTags adds the requirements of an image that was found by the selector of an
// AWSNodeTemplate: tags that are labels of machines narrow which machines it is for.
func OfTags(requirements label.Set, tags map[string]string, isLabel func(key string) bool) label.Set {
	for key, value := range tags {
		if isLabel(label.Canonical(key)) {
			requirements = requirements.And(label.Is(key, value))
		}
	}
	return requirements
}

// Choose keeps one image of those that are for the same machines: one that is
// not deprecated before one that is, then the newest, then the first by name.
// The answer is sorted, newest first.
func Choose(found []Image) []Image {
	best := map[string]Image{}
	for _, i := range found {
		key := keyOf(i.Requirements)
		if other, ok := best[key]; !ok || better(i, other) {
			best[key] = i
		}
	}
	out := make([]Image, 0, len(best))
	for _, i := range best {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b Image) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID), cmp.Compare(keyOf(a.Requirements), keyOf(b.Requirements)))
	})
	return out
}

func better(a, b Image) bool {
	if a.Deprecated != b.Deprecated {
		return b.Deprecated
	}
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) < 0
}

// keyOf is a text that only equal requirements share.
func keyOf(s label.Set) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, "%s %s %q;", r.Key, r.Op(), r.Values)
	}
	return b.String()
}

// For returns the image that a machine with these labels boots: the first that
// is for it.
func For(images []Image, labels label.Set) (Image, bool) {
	i := slices.IndexFunc(images, func(i Image) bool { return labels.Compatible(i.Requirements, nil) })
	if i < 0 {
		return Image{}, false
	}
	return images[i], true
}
