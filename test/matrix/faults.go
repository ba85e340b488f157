package matrix

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// How long things may take, in the cluster's own time.
const (
	// A fault lasts 11 minutes: a claim that cannot be launched is given up after
	// five, and so is the next one. If the fault ended in the second in which that
	// happens, a machine could be bought for the old claim and for the new one.
	lasts    = 11 * time.Minute
	recovers = 60 * time.Minute // until all is as it should be, after it
	stays    = 5 * time.Minute  // so, at least
)

// kind is what a fault is a fault of. Of two faults of one kind the worse hides
// the other, so that only faults of two kinds are staged together.
type kind string

const (
	answers  kind = "answers of the cloud"
	lists    kind = "lists of machines"
	onSale   kind = "what is on sale"
	server   kind = "API server"
	watches  kind = "watches"
	clocks   kind = "clock"
	kubelets kind = "kubelets"
	process  kind = "process"
	disk     kind = "journal"
	notices  kind = "notices"
)

// fault is something that is wrong for a while.
type fault struct {
	name                    string
	kind                    kind // empty: nothing is wrong
	stage                   func(*testCluster)
	each                    func(*testCluster, int) // done every second while it lasts, with how many have passed; may be nil
	lift                    func(*testCluster)
	deaf                    bool // events cannot be written either, so that no pod can be told anything
	queue, journals, leases bool // the controller hears of interruptions, keeps its decisions in files, leads by a Lease

	ever  bool // it is there before the controller starts, and stays
	twice bool // a request that is under way when its claim is given up is still carried out: a machine for each may be bought once more
}

// ofCloud is a fault of the cloud's answers.
func ofCloud(k kind, name string, f func() cloudFault) fault {
	return fault{name: name, kind: k, stage: func(w *testCluster) { w.cloud.Fail(name, f()) }, lift: func(w *testCluster) { w.cloud.Fail(name, cloudFault{}) }}
}

// ofServer is a fault of the API server's answers.
func ofServer(name string, f func() func(request) answer) fault {
	return fault{name: name, kind: server, stage: func(w *testCluster) { w.api.Fail(name, f()) }, lift: func(w *testCluster) { w.api.Fail(name, nil) }}
}

// ofQueue is a fault of the queue of notices.
func ofQueue(name string, f func(*queue)) fault {
	return fault{
		name: name, kind: notices, queue: true, stage: func(w *testCluster) { w.queueDo(f) },
		lift: func(w *testCluster) { w.queueDo(func(q *queue) { q.delay, q.copies, q.poison = nil, 0, nil }) },
	}
}

func (w *testCluster) queueDo(change func(*queue)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w.queue)
}

func twice(f fault) fault { f.twice = true; return f }

func deaf(f fault) fault { f.deaf = true; return f }

// skewed is a clock of the controller's machine that is never right.
func skewed(name string, by time.Duration) fault {
	return fault{name: name, kind: clocks, ever: true, stage: func(w *testCluster) { w.skew.Store(int64(by)) }, lift: func(*testCluster) {}}
}

// paused is a controller that is stopped for a minute, and what it was about to say is said then.
func paused(name string, leases bool) fault {
	on := func(w *testCluster) { w.api.Fail(name, nil); w.cloud.Fail(name, cloudFault{}) }
	return fault{
		name: name, kind: process, leases: leases, lift: on,
		stage: func(w *testCluster) {
			until := time.Now().Add(time.Minute)
			w.api.Fail(name, func(request) answer { return answer{After: max(time.Until(until), 0)} })
			w.cloud.Fail(name, cloudFault{After: time.Minute})
		},
		each: func(w *testCluster, at int) {
			if at == 60 {
				on(w)
			}
		},
	}
}

func always(err error) func(string) error { return func(string) error { return err } }

// every gives true at each nth call.
func every(n int) func() bool {
	i := 0
	return func() bool { i++; return i%n == 0 }
}

// faults are all of them.
func faults() []fault {
	return append(append(cloudFaults(), serverFaults()...), otherFaults()...)
}

func cloudFaults() []fault {
	return []fault{
		{name: "none", stage: func(*testCluster) {}, lift: func(*testCluster) {}},
		twice(ofCloud(answers, "cloud silent", func() cloudFault {
			return cloudFault{After: time.Minute, Err: always(errors.New("request timed out"))}
		})),
		ofCloud(answers, "cloud slow", func() cloudFault { return cloudFault{After: 10 * time.Second} }),
		ofCloud(answers, "cloud throttling", func() cloudFault {
			return cloudFault{Err: always(cloud.Errorf(cloud.Throttled, "RequestLimitExceeded", "request limit exceeded"))}
		}),
		ofCloud(answers, "cloud 5xx", func() cloudFault { return cloudFault{Err: always(errors.New("InternalError: 500"))} }),
		ofCloud(answers, "token expired", func() cloudFault {
			return cloudFault{Err: always(cloud.Errorf(cloud.Unauthorised, "ExpiredToken", "the security token is expired"))}
		}),
		ofCloud(answers, "answers lost", func() cloudFault {
			return cloudFault{Lost: func(method string) error {
				if method == "launch" || method == "terminate" {
					return errors.New("connection reset by the cloud")
				}
				return nil
			}}
		}),
		ofCloud(lists, "lists empty", func() cloudFault {
			return cloudFault{Listed: func([]cloud.Machine) []cloud.Machine { return nil }}
		}),
		ofCloud(lists, "lists lack some", func() cloudFault {
			return cloudFault{Listed: func(m []cloud.Machine) []cloud.Machine { return m[:len(m)/2] }}
		}),
		ofCloud(lists, "lists repeat", func() cloudFault {
			return cloudFault{Listed: func(m []cloud.Machine) []cloud.Machine { return append(slices.Clone(m), m...) }}
		}),
		{
			name: "tags stripped", kind: lists, stage: func(*testCluster) {}, lift: func(w *testCluster) { w.tags(true) },
			each: func(w *testCluster, _ int) { w.tags(false) },
		},
		{
			name: "nothing is sold", kind: onSale,
			stage: func(w *testCluster) { w.market.SetCapacity(market.Capacity{}) },
			lift:  func(w *testCluster) { w.market.ClearCapacity(market.Capacity{}) },
		},
		{
			name: "a zone sold out", kind: onSale,
			stage: func(w *testCluster) { w.market.SetCapacity(market.Capacity{Zone: "us-east-1a"}) },
			lift:  func(w *testCluster) { w.market.ClearCapacity(market.Capacity{Zone: "us-east-1a"}) },
		},
		ofCloud(onSale, "a zone out of sight", func() cloudFault {
			return offers("blind", func(o world.Offer) (world.Offer, bool) { return o, o.Zone != "us-east-1a" })
		}),
		ofCloud(onSale, "prices absent", func() cloudFault {
			return offers("free", func(o world.Offer) (world.Offer, bool) { o.Price = 0; return o, true })
		}),
		ofCloud(onSale, "prices absurd", func() cloudFault {
			return offers("dear", func(o world.Offer) (world.Offer, bool) { o.Price = 1 << 40 / max(o.Price, 1); return o, true })
		}),
	}
}

// offers is a catalogue of other offers.
func offers(version string, change func(world.Offer) (world.Offer, bool)) cloudFault {
	return cloudFault{Catalog: func(c world.Catalog) world.Catalog {
		c.Version += version
		c.Shapes = slices.Clone(c.Shapes)
		for i := range c.Shapes {
			var left []world.Offer
			for _, o := range c.Shapes[i].Offers {
				if o, ok := change(o); ok {
					left = append(left, o)
				}
			}
			c.Shapes[i].Offers = left
		}
		return c
	}}
}

// tags takes the tag by which machines are known from all, or gives it back.
func (w *testCluster) tags(back bool) {
	for _, i := range w.market.Instances() {
		if i.State.Gone() {
			continue
		}
		var err error
		if back {
			err = w.market.Tag([]string{i.ID}, market.Tags{"eks:eks-cluster-name": "matrix"})
		} else {
			err = w.market.Untag([]string{i.ID}, map[string]*string{"eks:eks-cluster-name": nil})
		}
		if err != nil {
			w.t.Error(err)
		}
	}
}

func serverFaults() []fault {
	return []fault{
		ofServer("API server slow", func() func(request) answer {
			return func(r request) answer { return answer{After: 3 * time.Second} }
		}),
		ofServer("API server conflicts", func() func(request) answer {
			hit := every(2)
			return func(r request) answer {
				if (r.Verb == "patch" || r.Verb == "update") && hit() {
					return answer{Err: apierrors.NewConflict(schema.GroupResource{Resource: r.Resource}, r.Name, errors.New("it has changed"))}
				}
				return answer{}
			}
		}),
		ofServer("API server 500", func() func(request) answer {
			hit := every(2)
			return func(r request) answer {
				if hit() {
					return answer{Err: apierrors.NewInternalError(errors.New("etcdserver: leader changed"))}
				}
				return answer{}
			}
		}),
		deaf(ofServer("API server silent", func() func(request) answer {
			return func(request) answer {
				return answer{After: 30 * time.Second, Err: apierrors.NewTimeoutError("request did not complete within the allotted timeout", 1)}
			}
		})),
		ofServer("API server answers lost", func() func(request) answer {
			hit := every(2)
			return func(r request) answer { return answer{Lost: r.writes() && hit()} }
		}),
		ofServer("webhook of others refuses", func() func(request) answer {
			return func(r request) answer {
				if r.writes() && strings.HasPrefix(r.Resource, "nodeclaims") {
					return answer{Err: &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "admission webhook denied the request"}}}
				}
				return answer{}
			}
		}),
		{
			name: "watches cut", kind: watches, stage: func(*testCluster) {}, lift: func(*testCluster) {},
			each: func(w *testCluster, at int) {
				if at%20 == 0 {
					w.api.CutWatches(true)
				}
			},
		},
		{
			name: "watches late", kind: watches,
			stage: func(w *testCluster) {
				w.api.Fail("watches", func(r request) answer {
					if r.Verb == "watch" || r.Verb == "list" {
						return answer{After: 20 * time.Second}
					}
					return answer{}
				})
			},
			each: func(w *testCluster, at int) {
				if at%60 == 0 {
					w.api.CutWatches(true)
				}
			},
			lift: func(w *testCluster) { w.api.Fail("watches", nil) },
		},
	}
}

func otherFaults() []fault {
	return []fault{
		{
			name: "clock an hour ahead", kind: clocks,
			stage: func(w *testCluster) { w.skew.Store(int64(time.Hour)) }, lift: func(w *testCluster) { w.skew.Store(0) },
		},
		{
			name: "clock an hour behind", kind: clocks,
			stage: func(w *testCluster) { w.skew.Store(-int64(time.Hour)) }, lift: func(w *testCluster) { w.skew.Store(0) },
		},
		skewed("clock half an hour ahead for good", 30*time.Minute),
		skewed("clock half an hour behind for good", -30*time.Minute),
		skewed("clock a day ahead for good", 24*time.Hour),
		skewed("clock a day behind for good", -24*time.Hour),
		{
			name: "kubelets cut off for two minutes", kind: kubelets, stage: func(*testCluster) {},
			each: func(w *testCluster, at int) { w.kubeletsDo(func(h *host) { h.mute = at%300 < 120 }) },
			lift: func(w *testCluster) { w.kubeletsDo(func(h *host) { h.mute = false }) },
		},
		{
			name: "kubelets flapping", kind: kubelets, stage: func(*testCluster) {},
			each: func(w *testCluster, at int) { w.kubeletsDo(func(h *host) { h.mute = at%90 < 50 }) },
			lift: func(w *testCluster) { w.kubeletsDo(func(h *host) { h.mute = false }) },
		},
		{
			name: "kubelets lying", kind: kubelets, stage: func(*testCluster) {},
			each: func(w *testCluster, at int) {
				w.kubeletsDo(func(h *host) { h.reason = fmt.Sprint("\xff\xfe", at/10, strings.Repeat("x", 500)) })
			},
			lift: func(w *testCluster) { w.kubeletsDo(func(h *host) { h.reason = "" }) },
		},
		{
			name: "controller killed every half minute", kind: process, stage: func(*testCluster) {}, lift: func(*testCluster) {},
			each: func(w *testCluster, at int) {
				if at%30 == 29 {
					w.kill()
					w.start()
				}
			},
		},
		{
			name: "controller killed at every third write", kind: process,
			stage: func(w *testCluster) {
				n := 0
				w.api.Fail("kill", func(r request) answer {
					if !r.writes() || r.Resource == "events" || w.life.dead.Load() {
						return answer{}
					}
					if n++; n%3 == 0 {
						w.life.dead.Store(true) // of this write it hears nothing
						return answer{Lost: n%2 == 0, Err: map[bool]error{true: apierrors.NewInternalError(errNoAnswer)}[n%2 != 0]}
					}
					return answer{}
				})
			},
			each: func(w *testCluster, _ int) {
				if w.life.dead.Load() {
					w.kill()
					w.start()
				}
			},
			lift: func(w *testCluster) {
				w.api.Fail("kill", nil)
				if w.life.dead.Load() {
					w.kill()
					w.start()
				}
			},
		},
		{
			name: "journal cannot be written", kind: disk, journals: true,
			stage: func(w *testCluster) { // as a full disk: every file that it begins fails
				if err := os.RemoveAll(w.folder); err != nil {
					w.t.Error(err)
				}
			},
			lift: func(w *testCluster) {
				if err := os.MkdirAll(w.folder, 0o750); err != nil {
					w.t.Error(err)
				}
			},
		},
		paused("controller paused, its lease expired", true),
		ofQueue("notices reordered", func(q *queue) {
			q.delay = func(n int) time.Duration { return time.Duration(n%3) * 20 * time.Second }
		}),
		ofQueue("notices repeated", func(q *queue) { q.copies = 2 }),
		ofQueue("notices poisoned", func(q *queue) {
			q.poison = []string{"hello", `{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":[1]}`, `{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{"instance-id":"i-\ufffd"}}`}
		}),
		paused("controller paused for a minute", false),
	}
}

// kubeletsDo changes the kubelets of machines that run.
func (w *testCluster) kubeletsDo(change func(*host)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.host {
		if h.State == market.Running {
			change(h)
		}
	}
}

// during is a fault of a story, and when it begins: each ends as long after that as the other.
type during struct {
	fault

	from time.Duration
}

// now does what is to be done so long after a story began.
func (d during) now(w *testCluster, since time.Duration) {
	if since == d.from && since > 0 {
		d.begin(w)
	}
	if since < d.from || since > d.from+lasts {
		return
	}
	if since == d.from+lasts {
		d.lift(w)
		if d.deaf {
			w.deaf = false
		}
		return
	}
	if d.each != nil {
		d.each(w, int((since-d.from)/time.Second))
	}
}

func (d during) begin(w *testCluster) {
	if d.deaf {
		w.deaf = true
	}
	d.stage(w)
}
