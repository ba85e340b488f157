package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	BetaPools    []BetaPool
	BetaClasses  []awsv1.EC2NodeClass // of v1beta1: the fields are today's, what they leave unsaid is not
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

// Convert turns Provisioners into NodePools, AWSNodeTemplates and inline
// providers into EC2NodeClasses, and what is of v1beta1 into what is of v1. What the old kinds left unsaid and filled in
// themselves is written out, because the new ones fill in something else.
func Convert(in Input) Output {
	var out Output
	used := variants(usersOf(in.Provisioners))
	taken := out.fromTemplates(in, used)
	out.fromProvisioners(in, used, taken)
	out.fromBeta(in, taken)
	slices.SortStableFunc(out.Classes, func(a, b awsv1.EC2NodeClass) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(out.Pools, func(a, b v1.NodePool) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// usersOf are the Provisioners that refer to an AWSNodeTemplate.
func usersOf(provisioners []v1alpha5.Provisioner) []user {
	var users []user
	for i := range provisioners {
		if p := &provisioners[i]; p.Spec.ProviderRef != nil {
			users = append(users, user{p.Spec.ProviderRef.Name, p.Name, kubelet(p)})
		}
	}
	return users
}

// fromTemplates makes classes of AWSNodeTemplates, as many of each as those who use it need, and returns their names.
func (out *Output) fromTemplates(in Input, used map[string][]variant) map[string]bool {
	taken := map[string]bool{}
	for i := range in.Templates {
		t := &in.Templates[i]
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
			out.Classes = append(out.Classes, class(k, t.ObjectMeta, spec))
			taken[k.class] = true
		}
	}
	return taken
}

// fromProvisioners makes pools of Provisioners, and classes of the providers that are written in them.
func (out *Output) fromProvisioners(in Input, used map[string][]variant, taken map[string]bool) {
	for i := range in.Provisioners {
		p := &in.Provisioners[i]
		n := notes{"Provisioner/" + p.Name, &out.Notes}
		if n.wrong(p.Problems()) {
			continue
		}
		var name string
		switch {
		case p.Spec.Provider != nil:
			name = p.Name
			if taken[name] {
				name += "-provider"
				n.say("spec.provider", "its class is called %s, because an AWSNodeTemplate has its name", name)
			}
			if c, ok := classOfProvider(p, name, in, n); ok {
				out.Classes = append(out.Classes, c)
			}
		default:
			name = p.Spec.ProviderRef.Name
			if !slices.ContainsFunc(in.Templates, func(t awsv1alpha1.AWSNodeTemplate) bool { return t.Name == name }) {
				n.say("spec.providerRef", "AWSNodeTemplate %s was not given: convert it together with its Provisioners, which hold its kubelet settings", name)
			}
			if v, ok := of(used[name], kubelet(p)); ok {
				name = v.class
			}
		}
		out.Pools = append(out.Pools, pool(p, name, n))
	}
}

// variant is one class that a template becomes. Settings of the kubelet were
// the Provisioner's and are now the class', so a template whose Provisioners
// differ in them becomes several.
type variant struct {
	kubelet string // as JSON; empty if there are none
	class   string
}

// A user is a pool that uses a class, and what it says of the kubelet.
type user struct{ class, pool, kubelet string }

// variants are the classes that each template becomes. The one without kubelet
// settings keeps the template's name, as does an only one; the others have their first pool's behind it.
func variants(all []user) map[string][]variant {
	out := map[string][]variant{}
	for _, u := range all {
		if _, ok := of(out[u.class], u.kubelet); !ok {
			out[u.class] = append(out[u.class], variant{kubelet: u.kubelet, class: u.class + "-" + u.pool})
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

// of is the variant with these kubelet settings.
func of(kinds []variant, kubelet string) (variant, bool) {
	i := slices.IndexFunc(kinds, func(v variant) bool { return v.kubelet == kubelet })
	if i < 0 {
		return variant{}, false
	}
	return kinds[i], true
}

// class is one variant of what a template became.
func class(k variant, old metav1.ObjectMeta, spec awsv1.EC2NodeClassSpec) awsv1.EC2NodeClass {
	out := awsv1.EC2NodeClass{ObjectMeta: meta(k.class, old)}
	spec.DeepCopyInto(&out.Spec)
	out.Spec.Kubelet = k.settings()
	out.TypeMeta.APIVersion, out.Kind = awsv1.GroupVersion.String(), "EC2NodeClass"
	return out
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
