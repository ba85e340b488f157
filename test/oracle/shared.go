package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/provision"
)

// shared makes a small cluster in which pods of one workload, of nearly every
// one, share a disk for one node or for one pod, which the first of them at times has already.
func shared(seed uint64) *Cluster {
	g := newGenerator(seed, 7)
	g.disks, g.one = 85, true
	return g.small()
}

// share has a pod mount the disk of another.
func (g *generator) share(p, first *corev1.Pod) {
	p.Spec.Volumes = append(p.Spec.Volumes, first.Spec.Volumes[len(first.Spec.Volumes)-1])
}

// settle makes the last disk that was made one for one pod, at times, and at times has the pod run with it already.
func (g *generator) settle(p *corev1.Pod) {
	claim := &g.PVCs[len(g.PVCs)-1]
	if g.chance(20) {
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	if claim.Spec.VolumeName == "" {
		return
	}
	volume := &g.PVs[len(g.PVs)-1]
	volume.Spec.AccessModes = claim.Spec.AccessModes
	if len(g.Nodes) == 0 || !g.chance(40) {
		return
	}
	n := pick(g, g.Nodes...)
	if z := n.Labels[label.Zone]; z != "" {
		volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values = []string{z}
		p.Spec.NodeName, p.Status.Conditions, p.Status.Phase = n.Name, nil, corev1.PodRunning
	}
}

// claimOf is the disk that the pod mounts, if it is for one node; "" if there is none.
func (c *Cluster) claimOf(p *corev1.Pod) string {
	for _, v := range p.Spec.Volumes {
		for i := range c.PVCs {
			if d := &c.PVCs[i]; v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == d.Name && d.Namespace == p.Namespace {
				return d.Namespace + "/" + d.Name
			}
		}
	}
	return ""
}

// judgeShared is judge where pods share disks. kube-scheduler does not mind on which
// nodes those are that share one for one node: on another than the first they would
// not start. So it is not asked about these, and the plan may not divide them.
func (o *Conversation) judgeShared(c *Cluster) (Trial, error) {
	w, err := c.world()
	if err != nil {
		return Trial{}, err
	}
	p := provision.Decide(w, provision.Options{})
	q := c.ask("", p)
	v, err := o.Ask(q)
	if err != nil {
		return Trial{}, err
	}
	seats, divided := c.seats(q.Placements)
	v.Possible = slices.DeleteFunc(v.Possible, func(s string) bool {
		pod, node, _ := strings.Cut(s, " on ")
		i := slices.IndexFunc(c.Pods, func(p corev1.Pod) bool { return p.Namespace+"/"+p.Name == pod })
		if i < 0 {
			return false
		}
		seat := seats[c.claimOf(&c.Pods[i])]
		return seat != "" && seat != node
	})
	t := Trial{Placed: v.Placed, Refused: len(p.Refused)}
	if len(v.Wrong)+len(v.Possible)+len(divided) > 0 {
		t.Wrong = append(t.Wrong, fmt.Sprintf("refused by the scheduler: %q\nrefused by us, possible: %q\non several nodes: %q\n%s", v.Wrong, v.Possible, divided, p.Text(true)))
	}
	return t, nil
}

// seats are the nodes on which disks are once all pods are placed, and the disks that would have to be on several.
func (c *Cluster) seats(placements map[string]string) (seats map[string]string, divided []string) {
	seats = map[string]string{}
	for i := range c.Pods {
		p := &c.Pods[i]
		disk, node := c.claimOf(p), cmp.Or(p.Spec.NodeName, placements[p.Namespace+"/"+p.Name])
		switch {
		case disk == "" || node == "":
		case seats[disk] == "":
			seats[disk] = node
		case seats[disk] != node:
			divided = append(divided, disk)
		}
	}
	return seats, divided
}
