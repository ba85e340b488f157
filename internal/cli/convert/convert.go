package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
)

// Input is the objects to convert, and what the old settings of the cluster said for all of them.
type Input struct {
	Provisioners []v1alpha5.Provisioner
	Templates    []awsv1alpha1.AWSNodeTemplate
	// Profile is the instance profile of templates that name none; Role is used where both are silent.
	Profile, Role string
}

// Output is what they become, and what is to be said of it.
type Output struct {
	Classes []awsv1.EC2NodeClass
	Pools   []v1.NodePool
	Notes   []Note
}

// Note says what became of one field that has no like in the new kinds.
type Note struct {
	Object string // Provisioner/default
	Field  string // spec.provider.launchTemplate
	Text   string
	Fatal  bool // the object, or the class of a Provisioner, could not be converted
}

func (n Note) String() string {
	if n.Field == "" {
		return n.Object + ": " + n.Text
	}
	return n.Object + ": " + n.Field + ": " + n.Text
}

// notes collects what is to be said of one object.
type notes struct {
	object string
	all    *[]Note
}

func (n notes) say(field, format string, args ...any) {
	*n.all = append(*n.all, Note{Object: n.object, Field: field, Text: fmt.Sprintf(format, args...)})
}

func (n notes) refuse(field, format string, args ...any) {
	*n.all = append(*n.all, Note{Object: n.object, Field: field, Text: fmt.Sprintf(format, args...), Fatal: true})
}

// wrong refuses an object that the API would not have taken either.
func (n notes) wrong(errs field.ErrorList) bool {
	for _, err := range errs {
		n.refuse(err.Field, "%s", err.ErrorBody())
	}
	return len(errs) > 0
}

// Convert turns Provisioners into NodePools, and AWSNodeTemplates and inline
// providers into EC2NodeClasses. What the old kinds left unsaid and filled in
// themselves is written out, because the new ones fill in something else.
func Convert(in Input) Output {
	var out Output
	used := variants(in.Provisioners)
	templates := map[string]bool{}
	taken := map[string]bool{}
	for i := range in.Templates {
		t := &in.Templates[i]
		templates[t.Name] = true
		n := notes{"AWSNodeTemplate/" + t.Name, &out.Notes}
		if n.wrong(t.Problems()) {
			continue
		}
		spec, ok := classOfTemplate(t, in, n)
		if !ok {
			continue
		}
		kinds := used[t.Name]
		if len(kinds) == 0 {
			kinds = []variant{{class: t.Name}}
		}
		for _, k := range kinds {
			class := awsv1.EC2NodeClass{ObjectMeta: meta(k.class, t.ObjectMeta)}
			spec.DeepCopyInto(&class.Spec)
			class.Spec.Kubelet = k.settings()
			class.TypeMeta.APIVersion, class.Kind = awsv1.GroupVersion.String(), "EC2NodeClass"
			out.Classes = append(out.Classes, class)
			taken[k.class] = true
		}
	}
	for i := range in.Provisioners {
		p := &in.Provisioners[i]
		n := notes{"Provisioner/" + p.Name, &out.Notes}
		if n.wrong(p.Problems()) {
			continue
		}
		var class string
		switch {
		case p.Spec.Provider != nil:
			class = p.Name
			if taken[class] {
				class += "-provider"
				n.say("spec.provider", "its class is called %s, because an AWSNodeTemplate has its name", class)
			}
			if c, ok := classOfProvider(p, class, in, n); ok {
				out.Classes = append(out.Classes, c)
			}
		default:
			class = p.Spec.ProviderRef.Name
			if v, ok := of(used[class], p); ok {
				class = v.class
			}
			if !templates[p.Spec.ProviderRef.Name] {
				n.say("spec.providerRef", "AWSNodeTemplate %s was not given: convert it together with its Provisioners, which hold its kubelet settings", p.Spec.ProviderRef.Name)
			}
		}
		out.Pools = append(out.Pools, pool(p, class, n))
	}
	slices.SortStableFunc(out.Classes, func(a, b awsv1.EC2NodeClass) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(out.Pools, func(a, b v1.NodePool) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// variant is one class that a template becomes. Settings of the kubelet were
// the Provisioner's and are now the class', so a template whose Provisioners
// differ in them becomes several.
type variant struct {
	kubelet string // as JSON; empty if there are none
	class   string
}

// variants are the classes that each template becomes. The one without kubelet
// settings keeps the template's name, as does an only one; the others have their first Provisioner's behind it.
func variants(all []v1alpha5.Provisioner) map[string][]variant {
	out := map[string][]variant{}
	for i := range all {
		p := &all[i]
		if p.Spec.ProviderRef == nil {
			continue
		}
		name := p.Spec.ProviderRef.Name
		if _, ok := of(out[name], p); !ok {
			out[name] = append(out[name], variant{kubelet: kubelet(p), class: name + "-" + p.Name})
		}
	}
	for name, kinds := range out {
		for i := range kinds {
			if kinds[i].kubelet == "" || len(kinds) == 1 {
				kinds[i].class = name
			}
		}
	}
	return out
}

// of is the variant with the kubelet settings of p.
func of(kinds []variant, p *v1alpha5.Provisioner) (variant, bool) {
	i := slices.IndexFunc(kinds, func(v variant) bool { return v.kubelet == kubelet(p) })
	if i < 0 {
		return variant{}, false
	}
	return kinds[i], true
}

// kubelet is the settings as the new kind writes them: the same names, but no runtime to choose.
func kubelet(p *v1alpha5.Provisioner) string {
	if p.Spec.KubeletConfiguration == nil {
		return ""
	}
	k := p.Spec.KubeletConfiguration.DeepCopy()
	k.ContainerRuntime = nil
	text, err := json.Marshal(k)
	if err != nil || bytes.Equal(text, []byte("{}")) {
		return "" // quantities and durations always marshal
	}
	return string(text)
}

// Problem is what to do about the objects that could not be converted; nil if all were.
func (o Output) Problem() error {
	var of []string
	for _, n := range o.Notes {
		if n.Fatal && !slices.Contains(of, n.Object) {
			of = append(of, n.Object)
		}
	}
	if len(of) == 0 {
		return nil
	}
	return fmt.Errorf("not everything could be converted, see the comments on %s", strings.Join(of, ", "))
}
