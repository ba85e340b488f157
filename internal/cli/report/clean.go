package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tenon-sh/tenon/charts"
)

// leftOut stands for what is not shown.
const leftOut = "(left out)"

// cleaned is an object without what may hold secrets: annotations of others, which may repeat the whole object, user data, and managed fields.
func cleaned(o unstructured.Unstructured) map[string]any {
	out := o.DeepCopy()
	out.SetManagedFields(nil)
	kept := map[string]string{}
	for k, v := range out.GetAnnotations() {
		group, _, _ := strings.Cut(k, "/")
		if group == "tenon.sh" || strings.HasSuffix(group, ".tenon.sh") || strings.HasPrefix(group, "karpenter.") || strings.HasSuffix(group, ".karpenter.sh") {
			kept[k] = v
		}
	}
	if len(kept) == 0 {
		kept = nil
	}
	out.SetAnnotations(kept)
	hideUserData(out.Object)
	return out.Object
}

// hideUserData replaces user data wherever it is: programs that nodes run when they start, which often hold keys.
func hideUserData(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, below := range v {
			if text, ok := below.(string); ok && strings.EqualFold(k, "userData") {
				v[k] = fmt.Sprintf("(left out, %d bytes)", len(text))
				continue
			}
			hideUserData(below)
		}
	case []any:
		for _, below := range v {
			hideUserData(below)
		}
	}
}

// known are the variables of which the values are shown. Of others only the names are: they may hold a secret.
func known() map[string]bool {
	out := map[string]bool{"AWS_REGION": true, "MEMORY_LIMIT": true, "JOURNAL_DIR": true, "JOURNAL_LIMIT": true}
	for _, s := range charts.Settings() {
		out[s.Env] = true
	}
	for _, secret := range []string{"CLUSTER_CA_BUNDLE", "CLUSTER_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		delete(out, secret)
	}
	return out
}

// plain is a value that names nothing: a number, a share, a time, a switch or a choice.
var plain = regexp.MustCompile(`^(-?[0-9.]+(ms|s|m|h|%|Mi|Gi)?|true|false|Respect|Ignore|Strict|BestEffort|cautious|normal|eager|debug|info|error|console|json|([A-Za-z0-9]+=(true|false),?)*)$`)

// settings are the variables and flags of a container. scrubbed: without any value that may name something.
func settings(c corev1.Container, scrubbed bool) (env map[string]string, args []string) {
	tell := known()
	value := func(name, v string) string {
		if !tell[name] || scrubbed && !plain.MatchString(v) {
			return leftOut
		}
		return v
	}
	env = map[string]string{}
	for _, e := range c.Env {
		switch {
		case e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil:
			env[e.Name] = "(of a ConfigMap)"
		case e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil:
			env[e.Name] = "(of a Secret)"
		case e.ValueFrom != nil:
			env[e.Name] = "(of the pod)"
		default:
			env[e.Name] = value(e.Name, e.Value)
		}
	}
	before := "" // a flag of which the value may be the next argument
	for _, a := range slices.Concat(c.Command, c.Args) {
		flag, v, assigned := strings.Cut(a, "=")
		variable := strings.ToUpper(strings.ReplaceAll(strings.TrimLeft(flag, "-"), "-", "_"))
		switch {
		case strings.HasPrefix(a, "-") && assigned:
			args, before = append(args, flag+"="+value(variable, v)), ""
		case strings.HasPrefix(a, "-"):
			args, before = append(args, a), variable
		case before != "":
			args, before = append(args, value(before, a)), ""
		case a == "controller" || a == "tenon" || a == "karpenter":
			args = append(args, a)
		default:
			args = append(args, leftOut)
		}
	}
	return env, args
}

// tame are labels of metrics that name nothing of a cluster.
var tame = []string{"le", "quantile", "reason", "phase", "status", "controller", "method", "result", "code", "verb", "decision", "capacity_type", "instance_type", "arch", "os", "zone", "region", "service", "action", "version", "type", "kind", "consolidation_type", "condition_status"}

var labelName = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="`)

// scrubMetrics leaves out series that have labels which may name something.
func scrubMetrics(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if i := strings.IndexByte(line, '{'); i >= 0 && !strings.HasPrefix(line, "#") {
			if slices.ContainsFunc(labelName.FindAllStringSubmatch(line[i:], -1), func(m []string) bool { return !slices.Contains(tame, m[1]) }) {
				continue
			}
		}
		out.WriteString(line)
	}
	return out.String()
}
