package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/tenon-sh/tenon/api/quantity"
)

// MaxUserData is how many bytes of user data EC2 takes, before base64.
const MaxUserData = 16384

// KubeletProblems returns what is wrong with the class' kubelet settings, which the CRD takes as they come. An amount
// that is an expression, and not a quantity, passes: whether expressions are on is a setting.
func (c *EC2NodeClass) KubeletProblems() field.ErrorList {
	at := field.NewPath("spec", "kubelet")
	if c.Spec.Kubelet == nil || len(c.Spec.Kubelet.Raw) == 0 {
		return nil
	}
	settings, err := kubelet(c.Spec.Kubelet.Raw)
	if err != nil {
		return field.ErrorList{field.Invalid(at, string(c.Spec.Kubelet.Raw), err.Error())}
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		errs = append(errs, settingProblems(at.Child(name), name, settings[name])...)
	}
	errs = append(errs, pairProblems(at, settings)...)
	return errs
}

// UnsupportedKubelet returns the kubelet settings that the class' family has no way to hand on, sorted.
// AL2023 hands on everything.
func (c *EC2NodeClass) UnsupportedKubelet() []string {
	if c.Spec.Kubelet == nil || c.Family() == FamilyAL2023 {
		return nil
	}
	settings, err := kubelet(c.Spec.Kubelet.Raw)
	if err != nil {
		return nil // KubeletProblems says it
	}
	supported := []string{
		"clusterDNS", "maxPods", "podsPerCore", "systemReserved", "kubeReserved", "evictionHard", "evictionSoft",
		"evictionSoftGracePeriod", "evictionMaxPodGracePeriod", "imageGCHighThresholdPercent",
		"imageGCLowThresholdPercent", "cpuCFSQuota",
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains(supported, name) {
			names = append(names, name)
		}
	}
	return names
}

// KubeletExpressions returns the kubelet settings that are expressions, sorted: a maxPods that is no number, and
// reserved amounts that are no quantities.
func (c *EC2NodeClass) KubeletExpressions() []string {
	if c.Spec.Kubelet == nil {
		return nil
	}
	settings, err := kubelet(c.Spec.Kubelet.Raw)
	if err != nil {
		return nil // KubeletProblems says it
	}
	var names []string
	for _, name := range []string{"kubeReserved", "systemReserved"} {
		entries, _ := settings[name].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if _, err := quantity.Parse(fmt.Sprint(entries[key])); err != nil {
				names = append(names, name+"."+key)
			}
		}
	}
	if text, ok := settings["maxPods"].(string); ok {
		if _, err := strconv.ParseInt(text, 10, 32); err != nil {
			names = append(names, "maxPods")
		}
	}
	slices.Sort(names)
	return names
}

// Problem is the first thing that is wrong with what the class itself says: the reason and the message of its condition
// ValidationSucceeded. Both are empty if nothing is. expressions says whether kubelet settings may have them.
func (c *EC2NodeClass) Problem(expressions bool) (reason, message string) {
	say := func(l field.ErrorList) string { return l.ToAggregate().Error() }
	if l := c.KubeletProblems(); len(l) > 0 {
		return ReasonInvalidKubelet, say(l)
	}
	if names := c.KubeletExpressions(); len(names) > 0 && !expressions {
		return ReasonKubeletExpressionsDisabled, fmt.Sprintf("spec.kubelet.%s is an expression, and expressions are off: write a number or a quantity, or switch the gate NodeClassCEL of --aws-feature-gates on", strings.Join(names, ", spec.kubelet."))
	}
	if names := c.UnsupportedKubelet(); len(names) > 0 {
		return ReasonUnsupportedKubelet, fmt.Sprintf("family %s cannot hand on spec.kubelet.%s: remove it or use AL2023", c.Family(), strings.Join(names, ", "))
	}
	if l := c.TagProblems(); len(l) > 0 {
		return ReasonTagValidationFailed, say(l)
	}
	if data := c.Spec.UserData; data != nil && len(*data) > MaxUserData {
		return ReasonUserDataTooLarge, fmt.Sprintf("spec.userData has %d bytes, EC2 takes %d", len(*data), MaxUserData)
	}
	return "", ""
}

// TagProblems returns the tags that the CRD should have refused.
func (c *EC2NodeClass) TagProblems() field.ErrorList {
	at := field.NewPath("spec", "tags")
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(c.Spec.Tags)) {
		switch {
		case key == "":
			errs = append(errs, field.Required(at, "a tag needs a key"))
		case strings.HasPrefix(key, "kubernetes.io/cluster"), key == "eks:eks-cluster-name", key == "karpenter.sh/nodepool",
			key == "karpenter.sh/nodeclaim", key == LabelNodeClass:
			errs = append(errs, field.Forbidden(at.Key(key), "the tag is set by the controller"))
		}
	}
	return errs
}

func kubelet(raw []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var settings map[string]any
	if err := d.Decode(&settings); err != nil {
		return nil, fmt.Errorf("kubelet settings: %w", err)
	}
	return settings, nil
}

func settingProblems(at *field.Path, name string, value any) field.ErrorList {
	switch name {
	case "registerWithTaints":
		return field.ErrorList{field.Forbidden(at, "taints are the pool's: spec.template.spec.taints")}
	case "systemReserved", "kubeReserved":
		return entries(at, value, reservedProblem)
	case "evictionHard", "evictionSoft":
		return entries(at, value, thresholdProblem)
	case "evictionSoftGracePeriod":
		return entries(at, value, func(signal, _ string) string { return signalProblem(signal) })
	case "podsPerCore", "evictionMaxPodGracePeriod":
		return number(at, value, 1<<31-1)
	case "imageGCHighThresholdPercent", "imageGCLowThresholdPercent":
		return number(at, value, 100)
	case "maxPods":
		if _, expression := value.(string); expression {
			return nil
		}
		return number(at, value, 1<<31-1)
	default:
		return nil
	}
}

// pairProblems checks the settings that speak of each other.
func pairProblems(at *field.Path, settings map[string]any) field.ErrorList {
	var errs field.ErrorList
	soft, _ := settings["evictionSoft"].(map[string]any)
	grace, _ := settings["evictionSoftGracePeriod"].(map[string]any)
	for _, signal := range slices.Sorted(maps.Keys(soft)) {
		if _, ok := grace[signal]; !ok {
			errs = append(errs, field.Required(at.Child("evictionSoftGracePeriod").Key(signal), "the signal is in evictionSoft"))
		}
	}
	for _, signal := range slices.Sorted(maps.Keys(grace)) {
		if _, ok := soft[signal]; !ok {
			errs = append(errs, field.Required(at.Child("evictionSoft").Key(signal), "the signal is in evictionSoftGracePeriod"))
		}
	}
	high, hasHigh := integer(settings["imageGCHighThresholdPercent"])
	low, hasLow := integer(settings["imageGCLowThresholdPercent"])
	if hasHigh && hasLow && high <= low {
		errs = append(errs, field.Invalid(at.Child("imageGCHighThresholdPercent"), high, "must be above imageGCLowThresholdPercent"))
	}
	return errs
}

// entries checks a map of text, entry by entry.
func entries(at *field.Path, value any, problem func(key, text string) string) field.ErrorList {
	settings, ok := value.(map[string]any)
	if !ok {
		return field.ErrorList{field.TypeInvalid(at, value, "must be a map")}
	}
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		text := fmt.Sprint(settings[key])
		if say := problem(key, text); say != "" {
			errs = append(errs, field.Invalid(at.Key(key), text, say))
		}
	}
	return errs
}

func reservedProblem(name, amount string) string {
	if !slices.Contains([]string{"cpu", "memory", "ephemeral-storage", "pid"}, name) {
		return "only cpu, memory, ephemeral-storage and pid can be reserved"
	}
	if strings.HasPrefix(amount, "-") {
		return "what is reserved cannot be negative"
	}
	return ""
}

func signalProblem(signal string) string {
	signals := []string{
		"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree", "pid.available",
	}
	if !slices.Contains(signals, signal) {
		return "the signals are " + strings.Join(signals, ", ")
	}
	return ""
}

func thresholdProblem(signal, level string) string {
	if say := signalProblem(signal); say != "" {
		return say
	}
	if share, ok := strings.CutSuffix(level, "%"); ok {
		if p, err := strconv.ParseFloat(share, 64); err != nil || !(p >= 0 && p <= 100) {
			return "a share is from 0% to 100%"
		}
		return ""
	}
	if _, err := quantity.Parse(level); err != nil {
		return "write an amount such as 500Mi or a share such as 5%"
	}
	return ""
}

func number(at *field.Path, value any, most int64) field.ErrorList {
	if n, ok := integer(value); !ok || n < 0 || n > most {
		return field.ErrorList{field.Invalid(at, fmt.Sprint(value), fmt.Sprintf("must be an integer from 0 to %d", most))}
	}
	return nil
}

func integer(value any) (int64, bool) {
	n, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}
