package cluster

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// jobs are the Jobs that end, and which pods are of which Job. Of a Job that goes
// on nothing is kept, nor of one without pods but its UID.
type jobs struct {
	ending map[world.Key]types.UID
	of     map[world.Key]jobPod
	pods   map[world.Key]map[world.Key]bool // by Job
}

// jobPod is the Job that a pod is of.
type jobPod struct {
	job world.Key
	uid types.UID
}

func newJobs() jobs {
	return jobs{ending: map[world.Key]types.UID{}, of: map[world.Key]jobPod{}, pods: map[world.Key]map[world.Key]bool{}}
}

// set notes of which Job a pod is.
func (j jobs) set(p *corev1.Pod) {
	k := world.Key{Namespace: p.Namespace, Name: p.Name}
	job, uid := observe.JobOf(p)
	if j.of[k] == (jobPod{job, uid}) {
		return
	}
	j.delete(k)
	if uid == "" {
		return
	}
	j.of[k] = jobPod{job, uid}
	if j.pods[job] == nil {
		j.pods[job] = map[world.Key]bool{}
	}
	j.pods[job][k] = true
}

func (j jobs) delete(pod world.Key) {
	job := j.of[pod].job
	delete(j.of, pod)
	delete(j.pods[job], pod)
	if len(j.pods[job]) == 0 {
		delete(j.pods, job)
	}
}

// ends reports whether the Job of a pod ends.
func (j jobs) ends(pod world.Key) bool {
	of, ok := j.of[pod]
	return ok && j.ending[of.job] == of.uid
}

// SetJob puts into the cluster state whether a Job ends, and its pods with it.
func (c *Cluster) SetJob(j *batchv1.Job) {
	uid := types.UID("")
	if observe.JobEnds(j) {
		uid = j.UID
	}
	c.setEnding(world.Key{Namespace: j.Namespace, Name: j.Name}, uid)
}

// DeleteJob takes a Job out of the cluster state.
func (c *Cluster) DeleteJob(k world.Key) { c.setEnding(k, "") }

// setEnding notes that the Job of that UID ends; none does if it is empty.
func (c *Cluster) setEnding(job world.Key, uid types.UID) {
	c.update(func() []Change {
		if c.jobs.ending[job] == uid {
			return nil
		}
		if c.jobs.ending[job] = uid; uid == "" {
			delete(c.jobs.ending, job)
		}
		var keys []world.Key
		for k := range c.jobs.pods[job] {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, compareKey)
		var out []Change
		for _, k := range keys {
			was := c.pod(k)
			if was == nil || was.Ending == c.jobs.ends(k) {
				continue
			}
			c.putPod(*was)
			out = append(out, Change{Kind: Pod, Name: k.String(), Was: was, Is: c.pod(k)})
		}
		return out
	})
}
