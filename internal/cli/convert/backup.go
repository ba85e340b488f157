package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// backupHead begins a backup. The cluster's identity follows: the UID of its namespace kube-system.
const backupHead = "# What `tenon convert --cluster` found, before it changed anything, in cluster "

// backup is a file with objects as they were.
type backup struct {
	path, cluster string
	has           map[string]string // resource versions by UID
	text          []byte            // what it holds
}

// readBackup reads what an earlier run wrote. A file that is something else is refused.
func readBackup(path, cluster string) (*backup, error) {
	b := &backup{path: path, cluster: cluster, has: map[string]string{}, text: []byte(backupHead + cluster + "\n")}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, verb.BadInputf("read %s, where the backup is to be: %w", path, err)
	}
	if !bytes.HasPrefix(text, b.text) {
		return nil, verb.BadInputf("%s exists, and is no backup of this cluster: it is not written over, name another file with --backup", path)
	}
	objects, err := parseBackup(text)
	if err != nil {
		return nil, verb.BadInputf("%s is no backup that can be read: %w; name another file with --backup", path, err)
	}
	for _, o := range objects {
		b.has[string(o.GetUID())] = o.GetResourceVersion()
	}
	b.text = text
	return b, nil
}

// parseBackup reads the objects of a backup.
func parseBackup(text []byte) ([]unstructured.Unstructured, error) {
	var out []unstructured.Unstructured
	for i, doc := range strings.Split(string(text), "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		if o == nil {
			continue // the head
		}
		u := unstructured.Unstructured{Object: whole(o)}
		if u.GetKind() == "" || u.GetName() == "" || u.GetUID() == "" {
			return nil, fmt.Errorf("document %d has no kind, name or uid", i+1)
		}
		out = append(out, u)
	}
	return out, nil
}

// changed are the objects that the file has otherwise than they are now. It is a backup of another day, and would hide what is lost today.
func (b *backup) changed(all []change, were map[string]*unstructured.Unstructured) []string {
	var out []string
	for _, c := range all {
		was := were[string(c.object.GetUID())]
		if was == nil || !c.moved {
			continue // new, or as it will be
		}
		if version, ok := b.has[string(was.GetUID())]; ok && version != was.GetResourceVersion() {
			out = append(out, c.String())
		}
	}
	return out
}

// add writes objects that the file does not have yet. The file is whole at any time: another takes its place at once.
func (b *backup) add(objects ...*unstructured.Unstructured) error {
	text := bytes.Clone(b.text)
	for _, o := range objects {
		if _, ok := b.has[string(o.GetUID())]; ok {
			continue
		}
		doc, err := yaml.Marshal(o.Object)
		if err != nil {
			return fmt.Errorf("back up %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		text = append(append(text, "\n---\n"...), bytes.TrimRight(doc, "\n")...)
		b.has[string(o.GetUID())] = o.GetResourceVersion()
	}
	if bytes.Equal(text, b.text) {
		return nil
	}
	b.text = text
	return b.replace()
}

// replace puts the file where it belongs.
func (b *backup) replace() error {
	fail := func(err error) error {
		return fmt.Errorf("write the backup: %w: nothing is changed without one, name a file that can be written with --backup", err)
	}
	f, err := os.CreateTemp(filepath.Dir(b.path), filepath.Base(b.path)+".*")
	if err != nil {
		return fail(err)
	}
	_, err = f.Write(append(bytes.Clone(b.text), '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fail(errors.Join(err, os.Remove(f.Name())))
	}
	if err := os.Rename(f.Name(), b.path); err != nil {
		return fail(errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// partOfNode is what of a node is changed, as it is.
func partOfNode(n *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node"}}
	out.SetName(n.GetName())
	out.SetUID(n.GetUID())
	out.SetResourceVersion(n.GetResourceVersion())
	out.SetOwnerReferences(n.GetOwnerReferences())
	if taints, ok, _ := unstructured.NestedSlice(n.Object, "spec", "taints"); ok {
		_ = unstructured.SetNestedSlice(out.Object, taints, "spec", "taints") // the way there is made of maps
	}
	return out
}
