package convert

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
)

const noUbuntu = "an EC2NodeClass knows no Ubuntu: write one with amiFamily AL2, whose boot Ubuntu's images share, and amiSelectorTerms that find them"

// maxTerms is how many terms a selector may have.
const maxTerms = 30

func (v variant) settings() *runtime.RawExtension {
	if v.kubelet == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(v.kubelet)}
}

// classOfTemplate is what an AWSNodeTemplate becomes, without kubelet settings. It is false when there is no like of it.
func classOfTemplate(t *awsv1alpha1.AWSNodeTemplate, in Input, n notes) (awsv1.EC2NodeClassSpec, bool) {
	out, ok := classSpec(&t.Spec.Provider, "spec", in, n)
	if !ok {
		return out, false
	}
	out.UserData, out.DetailedMonitoring = t.Spec.UserData, t.Spec.DetailedMonitoring
	if len(t.Spec.AMISelector) > 0 {
		out.AMISelectorTerms = images(t.Spec.AMISelector, n)
		return out, len(out.AMISelectorTerms) > 0
	}
	return out, standardImages(&out, n)
}

// classOfProvider is what an inline provider becomes.
func classOfProvider(p *v1alpha5.Provisioner, name string, in Input, n notes) (awsv1.EC2NodeClass, bool) {
	out := awsv1.EC2NodeClass{ObjectMeta: meta(name, p.ObjectMeta)}
	out.TypeMeta.APIVersion, out.Kind = awsv1.GroupVersion.String(), "EC2NodeClass"
	provider, err := awsv1alpha1.ParseProvider(p.Spec.Provider.Raw)
	if err != nil {
		n.refuse("spec.provider", "%v", err)
		return out, false
	}
	spec, ok := classSpec(provider, "spec.provider", in, n)
	if !ok || !standardImages(&spec, n) {
		return out, false
	}
	spec.Kubelet = variant{kubelet: kubelet(p)}.settings()
	out.Spec = spec
	return out, true
}

// classSpec is what the fields become that a template and an inline provider share.
func classSpec(p *awsv1alpha1.Provider, at string, in Input, n notes) (awsv1.EC2NodeClassSpec, bool) {
	var out awsv1.EC2NodeClassSpec
	if p.LaunchTemplate != nil {
		n.refuse(at+".launchTemplate", "an EC2NodeClass uses no launch template of yours: write one that says what %s says "+
			"(image, security groups, role, user data, volumes)", *p.LaunchTemplate)
		return out, false
	}
	family := p.Family()
	if family == awsv1alpha1.FamilyUbuntu {
		n.refuse(at+".amiFamily", noUbuntu)
		return out, false
	}
	out.AMIFamily = &family
	switch profile := cmp.Or(deref(p.InstanceProfile), in.Profile); {
	case profile != "":
		out.InstanceProfile = &profile
	case in.Role != "":
		out.Role = in.Role
	default:
		n.refuse(at+".instanceProfile", "none is named: say with --instance-profile which one the setting aws.defaultInstanceProfile names, or with --role which role nodes have")
		return out, false
	}
	ok := true
	for _, term := range terms(p.SubnetSelector, at+".subnetSelector", n, &ok) {
		out.SubnetSelectorTerms = append(out.SubnetSelectorTerms, awsv1.SubnetSelectorTerm{Tags: term.tags, ID: term.id})
	}
	for _, term := range terms(p.SecurityGroupSelector, at+".securityGroupSelector", n, &ok) {
		out.SecurityGroupSelectorTerms = append(out.SecurityGroupSelectorTerms, awsv1.SecurityGroupSelectorTerm{Tags: term.tags, ID: term.id})
	}
	out.Tags, out.Context = tags(p.Tags, at+".tags", n), p.Context
	out.MetadataOptions = metadata(p.MetadataOptions)
	for _, m := range p.BlockDeviceMappings {
		if m == nil {
			continue
		}
		out.BlockDeviceMappings = append(out.BlockDeviceMappings, disk(m, at+".blockDeviceMappings", n))
	}
	return out, ok
}

// standardImages selects the newest image of a family, as no selector did.
func standardImages(out *awsv1.EC2NodeClassSpec, n notes) bool {
	if *out.AMIFamily == awsv1alpha1.FamilyCustom {
		n.refuse("spec.amiFamily", "Custom needs an amiSelector")
		return false
	}
	if *out.AMIFamily == awsv1alpha1.FamilyAL2 {
		n.say("spec.amiFamily", "AL2 has images for Kubernetes up to 1.32: for a later one change amiFamily to AL2023 and the alias to al2023@latest")
	}
	out.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: strings.ToLower(*out.AMIFamily) + "@latest"}}
	return true
}

// term is one way to find things: by an id, or by all of the tags.
type term struct {
	tags map[string]string
	id   string
}

// terms are what an old selector becomes. Several values of a tag are
// alternatives, so each choice of one value for every tag is a term.
func terms(selector map[string]string, at string, n notes, ok *bool) []term {
	var ids []string
	all := []map[string]string{{}}
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		values := commas(selector[key])
		if key == awsv1alpha1.SelectorIDs || key == awsv1alpha1.SelectorIDsLater {
			ids = append(ids, values...)
			continue
		}
		var next []map[string]string
		for _, tags := range all {
			for _, v := range values {
				with := maps.Clone(tags)
				with[key] = v
				next = append(next, with)
			}
		}
		if all = next; len(all) > maxTerms {
			break
		}
	}
	var out []term
	for _, id := range ids {
		out = append(out, term{id: id})
	}
	switch {
	case len(ids) > 0 && len(all[0]) > 0:
		n.refuse(at, "it asks for ids and for tags at once, which a term of an EC2NodeClass cannot: keep the ids alone, or the tags alone")
		*ok = false
	case len(ids) == 0:
		for _, tags := range all {
			out = append(out, term{tags: tags})
		}
	}
	if len(out) > maxTerms {
		n.refuse(at, "it stands for more than %d terms, which is what an EC2NodeClass may have: give what it finds a tag of their own", maxTerms)
		*ok = false
	}
	return out
}

// images are what a selector of images becomes.
func images(selector map[string]string, n notes) []awsv1.AMISelectorTerm {
	const at = "spec.amiSelector"
	var out []awsv1.AMISelectorTerm
	var ids, owners []string
	var name string
	tags := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		switch value := selector[key]; key {
		case awsv1alpha1.SelectorIDs, awsv1alpha1.SelectorIDsLater:
			ids = append(ids, commas(value)...)
		case awsv1alpha1.SelectorAMIName:
			name = value
		case awsv1alpha1.SelectorAMIOwners:
			owners = commas(value)
		default:
			if value == "*" {
				n.say(at, "tag %s: the star stood for itself, and now stands for any value", key)
			}
			tags[key] = value
		}
	}
	for _, id := range ids {
		out = append(out, awsv1.AMISelectorTerm{ID: id})
	}
	if len(ids) > 0 {
		if len(tags) > 0 || name != "" || len(owners) > 0 {
			n.refuse(at, "it asks for ids and for more at once, which a term of an EC2NodeClass cannot: keep the ids alone, or leave them out")
			return nil
		}
	} else {
		if len(owners) == 0 {
			owners = []string{""} // the account's own and Amazon's, in both kinds
		}
		for _, owner := range owners {
			out = append(out, awsv1.AMISelectorTerm{Tags: maps.Clone(tags), Name: name, Owner: owner})
		}
	}
	if len(out) > maxTerms {
		n.refuse(at, "it stands for more than %d terms, which is what an EC2NodeClass may have", maxTerms)
		return nil
	}
	n.say(at, "tags of an image that are labels of instance types no longer narrow the types: where images have such tags, write them as requirements of the pool")
	return out
}

// tags leaves out those that an EC2NodeClass may not set, because the controller does.
func tags(old map[string]string, at string, n notes) map[string]string {
	out := maps.Clone(old)
	for _, k := range slices.Sorted(maps.Keys(old)) {
		reserved := strings.HasPrefix(k, "kubernetes.io/cluster") ||
			slices.Contains([]string{"", "eks:eks-cluster-name", "karpenter.sh/nodepool", "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass"}, k)
		if reserved {
			n.say(at, "%s is left out: the controller sets it", k)
			delete(out, k)
		}
	}
	return out
}

// metadata writes out what was in force: settings of one's own were passed on
// as they were, and EC2 filled in what they left open.
func metadata(old *awsv1alpha1.MetadataOptions) *awsv1.MetadataOptions {
	if old == nil {
		return &awsv1.MetadataOptions{HTTPEndpoint: new("enabled"), HTTPProtocolIPv6: new("disabled"), HTTPPutResponseHopLimit: new(int64(2)), HTTPTokens: new("required")}
	}
	return &awsv1.MetadataOptions{
		HTTPEndpoint: or(old.HTTPEndpoint, "enabled"), HTTPProtocolIPv6: or(old.HTTPProtocolIPv6, "disabled"),
		HTTPPutResponseHopLimit: or(old.HTTPPutResponseHopLimit, 1), HTTPTokens: or(old.HTTPTokens, "optional"),
	}
}

// disk is one volume. EC2 sells whole GiB, and an EC2NodeClass is written in them.
func disk(old *awsv1alpha1.BlockDeviceMapping, at string, n notes) *awsv1.BlockDeviceMapping {
	out := &awsv1.BlockDeviceMapping{DeviceName: old.DeviceName}
	e := old.EBS
	if e == nil {
		return out
	}
	out.EBS = &awsv1.BlockDevice{
		DeleteOnTermination: e.DeleteOnTermination, Encrypted: e.Encrypted, IOPS: e.IOPS, KMSKeyID: e.KMSKeyID,
		SnapshotID: e.SnapshotID, Throughput: e.Throughput, VolumeType: e.VolumeType,
	}
	if e.VolumeSize != nil {
		out.EBS.VolumeSize = e.VolumeSize
		if size := e.VolumeSize.String(); !strings.HasSuffix(strings.TrimSuffix(size, "i"), "G") && !strings.HasSuffix(strings.TrimSuffix(size, "i"), "T") {
			const gib = int64(1) << 30
			out.EBS.VolumeSize = resource.NewQuantity((e.VolumeSize.Value()+gib-1)/gib*gib, resource.BinarySI)
			n.say(at, "volumeSize %s of %s is written as %s, the whole GiB that EC2 made of it", size, deref(old.DeviceName), out.EBS.VolumeSize)
		}
	}
	return out
}

func commas(v string) []string {
	var out []string
	for p := range strings.SplitSeq(v, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func or[T any](p *T, unset T) *T {
	if p == nil {
		return &unset
	}
	return p
}
