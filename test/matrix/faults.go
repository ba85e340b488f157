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

// fault is something that is wrong for a while.
type fault struct {
	name                    string
	stage                   func(*town)
	each                    func(*town, int) // done every second while it lasts, with how many have passed; may be nil
	lift                    func(*town)
	deaf                    bool // events cannot be written either, so that no pod can be told anything
	queue, journals, leases bool // the controller hears of interruptions, keeps its decisions in files, leads by a Lease

	ever  bool // it is there before the controller starts, and stays
	twice bool // a request that is under way when its claim is given up is still carried out: a machine for each may be bought once more
}

// ofCloud is a fault of the cloud's answers.
func ofCloud(name string, f func() cloudFault) fault {
	return fault{name: name, stage: func(w *town) { w.cloud.set(f()) }, lift: func(w *town) { w.cloud.set(cloudFault{}) }}
}

// ofServer is a fault of the API server's answers.
func ofServer(name string, f func() func(request) answer) fault {
	return fault{name: name, stage: func(w *town) { w.api.Fail(f()) }, lift: func(w *town) { w.api.Fail(nil) }}
}

// ofQueue is a fault of the queue of notices.
func ofQueue(name string, f func(*queue)) fault {
	return fault{
		name: name, queue: true, stage: func(w *town) { w.queueDo(f) },
		lift: func(w *town) { w.queueDo(func(q *queue) { q.delay, q.copies, q.poison = nil, 0, nil }) },
	}
}

func (w *town) queueDo(change func(*queue)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w.queue)
}

func twice(f fault) fault { f.twice = true; return f }

func deaf(f fault) fault { f.deaf = true; return f }

// skewed is a clock of the controller's machine that is never right.
func skewed(name string, by time.Duration) fault {
	return fault{name: name, ever: true, stage: func(w *town) { w.skew.Store(int64(by)) }, lift: func(*town) {}}
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
		{name: "none", stage: func(*town) {}, lift: func(*town) {}},
		twice(ofCloud("cloud silent", func() cloudFault {
			return cloudFault{After: time.Minute, Err: always(errors.New("request timed out"))}
		})),
		ofCloud("cloud slow", func() cloudFault { return cloudFault{After: 10 * time.Second} }),
		ofCloud("cloud throttling", func() cloudFault {
			return cloudFault{Err: always(cloud.Errorf(cloud.Throttled, "RequestLimitExceeded", "request limit exceeded"))}
		}),
		ofCloud("cloud 5xx", func() cloudFault { return cloudFault{Err: always(errors.New("InternalError: 500"))} }),
		ofCloud("token expired", func() cloudFault {
			return cloudFault{Err: always(cloud.Errorf(cloud.Unauthorised, "ExpiredToken", "the security token is expired"))}
		}),
		ofCloud("answers lost", func() cloudFault {
			return cloudFault{Lost: func(method string) error {
				if method == "launch" || method == "terminate" {
					return errors.New("connection reset by the cloud")
				}
				return nil
			}}
		}),
		ofCloud("lists empty", func() cloudFault {
			return cloudFault{Listed: func([]cloud.Machine) []cloud.Machine { return nil }}
		}),
		ofCloud("lists lack some", func() cloudFault {
			return cloudFault{Listed: func(m []cloud.Machine) []cloud.Machine { return m[:len(m)/2] }}
		}),
		ofCloud("lists repeat", func() cloudFault {
			return cloudFault{Listed: func(m []cloud.Machine) []cloud.Machine { return append(slices.Clone(m), m...) }}
		}),
		{
			name: "tags stripped", stage: func(*town) {}, lift: func(w *town) { w.tags(true) },
			each: func(w *town, _ int) { w.tags(false) },
		},
		{
			name:  "nothing to be had",
			stage: func(w *town) { w.market.SetCapacity(market.Capacity{}) },
			lift:  func(w *town) { w.market.ClearCapacity(market.Capacity{}) },
		},
		{
			name:  "a zone sold out",
			stage: func(w *town) { w.market.SetCapacity(market.Capacity{Zone: "us-east-1a"}) },
			lift:  func(w *town) { w.market.ClearCapacity(market.Capacity{Zone: "us-east-1a"}) },
		},
		ofCloud("a zone out of sight", func() cloudFault {
			return offers("blind", func(o world.Offer) (world.Offer, bool) { return o, o.Zone != "us-east-1a" })
		}),
		ofCloud("prices absent", func() cloudFault {
			return offers("free", func(o world.Offer) (world.Offer, bool) { o.Price = 0; return o, true })
		}),
		ofCloud("prices absurd", func() cloudFault {
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
func (w *town) tags(back bool) {
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
			name: "watches cut", stage: func(*town) {}, lift: func(*town) {},
			each: func(w *town, at int) {
				if at%20 == 0 {
					w.api.CutWatches(true)
				}
			},
		},
		{
			name: "watches late",
			stage: func(w *town) {
				w.api.Fail(func(r request) answer {
					if r.Verb == "watch" || r.Verb == "list" {
						return answer{After: 20 * time.Second}
					}
					return answer{}
				})
			},
			each: func(w *town, at int) {
				if at%60 == 0 {
					w.api.CutWatches(true)
				}
			},
			lift: func(w *town) { w.api.Fail(nil) },
		},
	}
}

func otherFaults() []fault {
	return []fault{
		{
			name:  "clock an hour ahead",
			stage: func(w *town) { w.skew.Store(int64(time.Hour)) }, lift: func(w *town) { w.skew.Store(0) },
		},
		{
			name:  "clock an hour behind",
			stage: func(w *town) { w.skew.Store(-int64(time.Hour)) }, lift: func(w *town) { w.skew.Store(0) },
		},
		skewed("clock half an hour ahead for good", 30*time.Minute),
		skewed("clock half an hour behind for good", -30*time.Minute),
		skewed("clock a day ahead for good", 24*time.Hour),
		skewed("clock a day behind for good", -24*time.Hour),
		{
			name: "kubelets cut off for two minutes", stage: func(*town) {},
			each: func(w *town, at int) { w.kubeletsDo(func(h *host) { h.mute = at%300 < 120 }) },
			lift: func(w *town) { w.kubeletsDo(func(h *host) { h.mute = false }) },
		},
		{
			name: "kubelets flapping", stage: func(*town) {},
			each: func(w *town, at int) { w.kubeletsDo(func(h *host) { h.mute = at%90 < 50 }) },
			lift: func(w *town) { w.kubeletsDo(func(h *host) { h.mute = false }) },
		},
		{
			name: "kubelets lying", stage: func(*town) {},
			each: func(w *town, at int) {
				w.kubeletsDo(func(h *host) { h.reason = fmt.Sprint("\xff\xfe", at/10, strings.Repeat("x", 500)) })
			},
			lift: func(w *town) { w.kubeletsDo(func(h *host) { h.reason = "" }) },
		},
		{
			name: "controller killed every half minute", stage: func(*town) {}, lift: func(*town) {},
			each: func(w *town, at int) {
				if at%30 == 29 {
					w.kill()
					w.start()
				}
			},
		},
		{
			name: "controller killed at every third write",
			stage: func(w *town) {
				n := 0
				w.api.Fail(func(r request) answer {
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
			each: func(w *town, _ int) {
				if w.life.dead.Load() {
					w.kill()
					w.start()
				}
			},
			lift: func(w *town) {
				w.api.Fail(nil)
				if w.life.dead.Load() {
					w.kill()
					w.start()
				}
			},
		},
		{
			name: "journal cannot be written", journals: true,
			stage: func(w *town) { // as a full disk: every file that it begins fails
				if err := os.RemoveAll(w.folder); err != nil {
					w.t.Error(err)
				}
			},
			lift: func(w *town) {
				if err := os.MkdirAll(w.folder, 0o750); err != nil {
					w.t.Error(err)
				}
			},
		},
		{
			name: "controller paused, its lease expired", leases: true,
			stage: func(w *town) {
				until := time.Now().Add(time.Minute)
				w.api.Fail(func(request) answer { return answer{After: max(time.Until(until), 0)} })
				w.cloud.set(cloudFault{After: time.Minute})
			},
			each: func(w *town, at int) {
				if at == 60 {
					w.api.Fail(nil)
					w.cloud.set(cloudFault{})
				}
			},
			lift: func(w *town) { w.api.Fail(nil); w.cloud.set(cloudFault{}) },
		},
		ofQueue("notices reordered", func(q *queue) {
			q.delay = func(n int) time.Duration { return time.Duration(n%3) * 20 * time.Second }
		}),
		ofQueue("notices repeated", func(q *queue) { q.copies = 2 }),
		ofQueue("notices poisoned", func(q *queue) {
			q.poison = []string{"hello", `{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":[1]}`, `{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{"instance-id":"i-\ufffd"}}`}
		}),
		{
			name: "controller paused for a minute",
			stage: func(w *town) {
				until := time.Now().Add(time.Minute)
				pause := func() time.Duration { return max(time.Until(until), 0) }
				w.api.Fail(func(request) answer { return answer{After: pause()} })
				w.cloud.set(cloudFault{After: time.Minute})
			},
			each: func(w *town, at int) {
				if at == 60 {
					w.api.Fail(nil)
					w.cloud.set(cloudFault{})
				}
			},
			lift: func(w *town) { w.api.Fail(nil); w.cloud.set(cloudFault{}) },
		},
	}
}

// kubeletsDo changes the kubelets of machines that run.
func (w *town) kubeletsDo(change func(*host)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.host {
		if h.State == market.Running {
			change(h)
		}
	}
}
