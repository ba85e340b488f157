package doctor

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/charts"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/examine"
	"github.com/tenon-sh/tenon/internal/cli/controller"
)

// running is the controller that acts now, as its Deployment tells.
type running struct {
	deployment appsv1.Deployment
	container  corev1.Container
	unknown    []string          // variables whose values cannot be read here
	env        map[string]string // the others
}

// runningIn finds the controller whose place is to be taken; nil if there is none.
func runningIn(ctx context.Context, c client.Reader) (*running, error) {
	var all appsv1.DeploymentList
	if err := c.List(ctx, &all, client.MatchingLabels{"app.kubernetes.io/name": "karpenter"}); err != nil {
		return nil, err
	}
	for _, d := range all.Items {
		for _, container := range d.Spec.Template.Spec.Containers {
			if container.Name != "controller" && len(d.Spec.Template.Spec.Containers) > 1 {
				continue
			}
			r := &running{deployment: d, container: container, env: map[string]string{}}
			return r, r.read(ctx, c)
		}
	}
	return nil, nil
}

// read finds out what the variables of the controller are. Those of v0.2x come from a ConfigMap that it reads by itself.
func (r *running) read(ctx context.Context, c client.Reader) error {
	maps := map[string]map[string]string{}
	from := func(name string) (map[string]string, error) {
		if m, ok := maps[name]; ok {
			return m, nil
		}
		var m corev1.ConfigMap
		if err := c.Get(ctx, client.ObjectKey{Namespace: r.deployment.Namespace, Name: name}, &m); client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		maps[name] = m.Data
		return m.Data, nil
	}
	global, err := from("karpenter-global-settings")
	if err != nil {
		return err
	}
	for _, s := range charts.Settings() {
		if value, ok := global[s.Key]; ok && s.Key != "" {
			r.env[s.Env] = value
		}
	}
	for _, e := range r.container.Env {
		switch {
		case e.ValueFrom == nil:
			r.env[e.Name] = e.Value
		case e.ValueFrom.ConfigMapKeyRef != nil:
			m, err := from(e.ValueFrom.ConfigMapKeyRef.Name)
			if err != nil {
				return err
			}
			if value, ok := m[e.ValueFrom.ConfigMapKeyRef.Key]; ok {
				r.env[e.Name] = value
			}
		case e.ValueFrom.SecretKeyRef != nil:
			r.unknown = append(r.unknown, e.Name)
		}
	}
	return nil
}

// tenon reports whether it is this project's already.
func (r *running) tenon() bool { return slices.Contains(r.container.Args, "controller") }

// settings says how this release would take the settings of the controller.
func (r *running) settings(ctx context.Context) []examine.Finding {
	getenv := func(name string) string {
		if name == "CLUSTER_NAME" {
			return cmp.Or(r.env[name], "unknown") // whether it is known is asked elsewhere
		}
		return r.env[name]
	}
	notFollowed, refused := controller.Understood(ctx, r.container.Args, getenv)
	var out []examine.Finding
	if refused != nil {
		for line := range strings.Lines(refused.Error()) {
			out = append(out, examine.Finding{Level: examine.Bad, Check: "settings", Says: "Tenon refuses to start: " + strings.TrimSpace(line), Fix: "change it in the values before the swap"})
		}
	}
	for _, n := range notFollowed {
		out = append(out, examine.Finding{Level: examine.Warning, Check: "settings", Says: n})
	}
	if len(r.unknown) > 0 {
		out = append(out, examine.Finding{Level: examine.Unclear, Check: "settings", Says: "variables from Secrets were not read: " + strings.Join(r.unknown, ", ")})
	}
	if len(out) == 0 {
		out = append(out, examine.Finding{Level: examine.Good, Check: "settings", Says: "flags and variables of the controller mean the same"})
	}
	return out
}

// where says whether both controllers could act at once.
func (r *running) where() examine.Finding {
	d := r.deployment
	says := fmt.Sprintf("%s/%s runs %s", d.Namespace, d.Name, r.container.Image)
	if d.Namespace != "kube-system" && d.Namespace != "karpenter" {
		return examine.Finding{
			Level: examine.Warning, Check: "controller", Says: says + ", and Tenon looks for Karpenter's Lease in kube-system and karpenter only",
			Fix: fmt.Sprintf("install Tenon in %s, or first: kubectl scale deployment %s -n %s --replicas=0", d.Namespace, d.Name, d.Namespace),
		}
	}
	return examine.Finding{Level: examine.Good, Check: "controller", Says: says}
}

// values says which values of the Helm release this chart does not take, and which change nothing.
func (r *running) values(ctx context.Context, c client.Reader) []examine.Finding {
	release := r.deployment.Labels["app.kubernetes.io/instance"]
	unclear := func(err error) []examine.Finding {
		return []examine.Finding{{
			Level: examine.Unclear, Check: "values", Says: fmt.Sprintf("the values of the Helm release %q were not read: %v", release, err),
			Fix: "helm upgrade --dry-run with your values file says which are refused",
		}}
	}
	given, err := helmValues(ctx, c, r.deployment.Namespace, release)
	if err != nil {
		return unclear(err)
	}
	schema, err := charts.Files().ReadFile("karpenter/values.schema.json")
	if err != nil {
		return unclear(err)
	}
	var s valuesSchema
	if err := json.Unmarshal(schema, &s); err != nil {
		return unclear(err)
	}
	var out []examine.Finding
	for _, name := range s.unknown(given, "") {
		out = append(out, examine.Finding{Level: examine.Bad, Check: "values", Says: "the chart refuses the value " + name, Fix: "take it out of your values file"})
	}
	if image := imageOf(given); strings.HasPrefix(image, charts.KarpentersImages) {
		out = append(out, examine.Finding{Level: examine.Bad, Check: "values", Says: "the chart refuses controller.image, which names Karpenter's own, " + image, Fix: "take controller.image out of your values file"})
	}
	for _, name := range charts.WithoutEffect() {
		if set(given, strings.Split(name, ".")) {
			out = append(out, examine.Finding{Level: examine.Warning, Check: "values", Says: name + " is accepted and changes nothing"})
		}
	}
	if len(out) == 0 {
		out = append(out, examine.Finding{Level: examine.Good, Check: "values", Says: fmt.Sprintf("the chart takes all values of the Helm release %s", release)})
	}
	return out
}

// imageOf is the image that values name for the controller.
func imageOf(values map[string]any) string {
	name, _, _ := unstructured.NestedString(values, "controller", "image")
	repository, _, _ := unstructured.NestedString(values, "controller", "image", "repository")
	return cmp.Or(name, repository)
}

// valuesSchema is what matters of a JSON schema to tell which names it knows.
type valuesSchema struct {
	Properties map[string]valuesSchema `json:"properties"`
	Additional any                     `json:"additionalProperties"`
}

// unknown are the names of values that the schema refuses, in order.
func (s valuesSchema) unknown(values map[string]any, path string) []string {
	var out []string
	for name, v := range values {
		of, known := s.Properties[name]
		inner, is := v.(map[string]any)
		switch {
		case !known && s.Additional == false:
			out = append(out, path+name)
		case known && is:
			out = append(out, of.unknown(inner, path+name+".")...)
		}
	}
	slices.Sort(out)
	return out
}

// set reports whether values have one of that path that says something.
func set(values map[string]any, path []string) bool {
	v, ok := values[path[0]]
	if inner, is := v.(map[string]any); is && len(path) > 1 {
		return set(inner, path[1:])
	}
	return ok && len(path) == 1 && v != nil && v != "" && v != false
}

// helmValues are the values that were given to the release that is deployed.
func helmValues(ctx context.Context, c client.Reader, namespace, release string) (map[string]any, error) {
	var secrets corev1.SecretList
	if err := c.List(ctx, &secrets, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm", "name": release, "status": "deployed"}); err != nil {
		return nil, err
	}
	if len(secrets.Items) == 0 {
		return nil, errors.New("there is none that Helm has deployed")
	}
	zipped, err := base64.StdEncoding.DecodeString(string(secrets.Items[0].Data["release"]))
	if err != nil {
		return nil, fmt.Errorf("decode what Helm stored: %w", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, fmt.Errorf("decode what Helm stored: %w", err)
	}
	var stored struct {
		Config map[string]any `json:"config"`
	}
	if err := json.NewDecoder(io.LimitReader(r, 16<<20)).Decode(&stored); err != nil {
		return nil, fmt.Errorf("decode what Helm stored: %w", err)
	}
	return stored.Config, nil
}

// swap finds what will differ once this controller takes the place of the one that runs.
func swap(ctx context.Context, c client.Reader, r *running, a asked) []examine.Finding {
	if r == nil {
		return append([]examine.Finding{{
			Level: examine.Warning, Check: "controller", Says: "there is no Deployment with the label app.kubernetes.io/name=karpenter: the settings of a controller that runs elsewhere are not looked at",
		}}, differences(ctx, c, a)...)
	}
	if r.tenon() {
		return []examine.Finding{{Level: examine.Good, Check: "controller", Says: fmt.Sprintf("%s/%s is Tenon's already", r.deployment.Namespace, r.deployment.Name)}}
	}
	out := append([]examine.Finding{r.where()}, r.settings(ctx)...)
	out = append(out, r.values(ctx, c)...)
	return append(out, differences(ctx, c, a)...)
}

// differences are what of the cluster's nodes and pods is treated otherwise.
func differences(ctx context.Context, c client.Reader, a asked) []examine.Finding {
	out := append([]examine.Finding{ofClaims(a.claims)}, ofLabels(a.buyers)...)
	return append(out, ofPods(ctx, c, a.claims)...)
}

// ofClaims is what becomes of machines that the controller before is about to replace.
func ofClaims(claims []world.Claim) examine.Finding {
	moving := 0
	for _, claim := range claims {
		if claim.Deleting || claim.Going != "" || !claim.Initialized {
			moving++
		}
	}
	if moving == 0 {
		return examine.Finding{Level: examine.Good, Check: "nodes", Says: fmt.Sprintf("%s, none on the way in or out; none drifts for the swap: hashes are rewritten", amount.Count(len(claims), "NodeClaim"))}
	}
	return examine.Finding{
		Level: examine.Warning, Check: "nodes", Says: amount.Count(moving, "NodeClaim") + " on the way in or out: what Karpenter means to replace is in its memory alone, so nodes that were bought instead may stay until they are found empty",
		Fix: "swap while `kubectl get nodeclaims` shows all as Ready",
	}
}

// ofLabels finds requirements of pools for which Karpenter makes values up.
func ofLabels(buyers []buyer) []examine.Finding {
	var out []examine.Finding
	known := v1alpha5.WellKnownLabels()
	for _, b := range buyers {
		for _, r := range b.pool.Requirements {
			if _, said := b.pool.Labels[r.Key]; !said && r.Any() && !slices.Contains(known, r.Key) {
				out = append(out, examine.Finding{
					Level: examine.Warning, Check: b.pool.ID.Kind + "/" + b.pool.ID.Name,
					Says: fmt.Sprintf("its requirement %s Exists names no value: Karpenter gives nodes a random number for it, Tenon buys none for pods that select it", r.Key),
					Fix:  "give the label a value in the pool's template",
				})
			}
		}
	}
	return out
}

// ofPods finds pods that are treated otherwise.
func ofPods(ctx context.Context, c client.Reader, claims []world.Claim) []examine.Finding {
	var pods corev1.PodList
	if err := c.List(ctx, &pods); err != nil {
		return []examine.Finding{{Level: examine.Unclear, Check: "pods", Says: "they were not read: " + err.Error()}}
	}
	ours := map[string]bool{}
	for _, claim := range claims {
		ours[claim.Node] = true
	}
	var alone, devices []string
	for _, p := range pods.Items {
		name := p.Namespace + "/" + p.Name
		_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if ours[p.Spec.NodeName] && p.Spec.NodeName != "" && metav1.GetControllerOf(&p) == nil && !mirror && !ended && p.Annotations["karpenter.sh/do-not-disrupt"] != "false" {
			alone = append(alone, name)
		}
		if p.Spec.NodeName == "" && len(p.Spec.ResourceClaims) > 0 {
			devices = append(devices, name)
		}
	}
	var out []examine.Finding
	if len(alone) > 0 {
		out = append(out, examine.Finding{
			Level: examine.Warning, Check: "pods", Says: fmt.Sprintf("%s without a controller: Karpenter evicts such pods, Tenon keeps their nodes (%s)", amount.Count(len(alone), "pod"), firstOf(alone)),
			Fix: `annotate those that may go karpenter.sh/do-not-disrupt: "false"`,
		})
	}
	if len(devices) > 0 {
		out = append(out, examine.Finding{
			Level: examine.Warning, Check: "pods", Says: fmt.Sprintf("%s waiting with resource claims: no node is bought for devices (%s)", amount.Count(len(devices), "pod"), firstOf(devices)),
		})
	}
	if len(alone)+len(devices) == 0 {
		out = append(out, examine.Finding{Level: examine.Good, Check: "pods", Says: "none is treated otherwise"})
	}
	return out
}

// firstOf names the first few.
func firstOf(names []string) string {
	const maxNamed = 3
	slices.Sort(names)
	if len(names) > maxNamed {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}
