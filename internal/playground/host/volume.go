package host

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// mount is a directory of this computer that stands for a path in the container.
type mount struct{ path, dir string }

// mounts lays out the volumes that the first container of p mounts below dir: empty directories, which stay for as
// long as the pod is there, and ConfigMaps and Secrets as they are now. A process sees the files of this computer, so
// its environment and arguments have to name them where they are; see outside. Volumes of other kinds are passed over.
func mounts(p *corev1.Pod, dir string, look lookup) ([]mount, error) {
	var out []mount
	for _, m := range p.Spec.Containers[0].VolumeMounts {
		i := slices.IndexFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if i < 0 {
			continue
		}
		v, at := p.Spec.Volumes[i], filepath.Join(dir, "volumes", m.Name)
		files, ok, err := contents(v, look)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", m.Name, err)
		}
		if !ok {
			continue
		}
		if err := os.MkdirAll(at, 0o700); err != nil {
			return nil, err
		}
		for name, text := range files {
			if !filepath.IsLocal(name) {
				return nil, fmt.Errorf("volume %s: the path %q leads out of it", m.Name, name)
			}
			to := filepath.Join(at, name)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				return nil, err
			}
			if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
				return nil, err
			}
		}
		if m.SubPath != "" && filepath.IsLocal(m.SubPath) {
			at = filepath.Join(at, m.SubPath)
		}
		out = append(out, mount{strings.TrimSuffix(m.MountPath, "/"), at})
	}
	slices.SortFunc(out, func(a, b mount) int { return cmp.Compare(len(b.path), len(a.path)) }) // the innermost counts
	return out, nil
}

// contents are the files of a volume when its pod starts; false if this host has no such volumes.
func contents(v corev1.Volume, look lookup) (files map[string]string, ok bool, err error) {
	var kind, name string
	var optional bool
	var items []corev1.KeyToPath
	switch {
	case v.EmptyDir != nil:
		return nil, true, nil
	case v.ConfigMap != nil:
		kind, name, optional, items = "configmap", v.ConfigMap.Name, v.ConfigMap.Optional != nil && *v.ConfigMap.Optional, v.ConfigMap.Items
	case v.Secret != nil:
		kind, name, optional, items = "secret", v.Secret.SecretName, v.Secret.Optional != nil && *v.Secret.Optional, v.Secret.Items
	default:
		return nil, false, nil
	}
	data, found, err := look(kind, name)
	if err != nil {
		return nil, false, err
	}
	if !found && !optional {
		return nil, false, fmt.Errorf("%s %q not found", kind, name)
	}
	if len(items) == 0 {
		return data, true, nil
	}
	files = map[string]string{}
	for _, item := range items {
		text, has := data[item.Key]
		if !has && !optional {
			return nil, false, fmt.Errorf("%s %q has no key %s", kind, name, item.Key)
		}
		files[item.Path] = text
	}
	return files, true, nil
}

// outside is a path in the container, or --flag=path, as it is on this computer. Other text stays.
func outside(text string, all []mount) string {
	flag, path := "", text
	if before, after, found := strings.Cut(text, "="); found && strings.HasPrefix(text, "-") {
		flag, path = before+"=", after
	}
	for _, m := range all {
		if path == m.path || strings.HasPrefix(path, m.path+"/") {
			return flag + m.dir + strings.TrimPrefix(path, m.path)
		}
	}
	return text
}
