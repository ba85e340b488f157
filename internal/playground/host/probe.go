package host

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// probe watches a run until ctx ends: readiness goes into the status, and unwell is told when the process is no longer
// alive by its own account. Probes that are not over HTTP are not made.
func (p *pod) probe(ctx context.Context, ports map[int]int, s state, unwell chan<- string) {
	c := p.Spec.Containers[0]
	var both sync.WaitGroup
	if r := c.ReadinessProbe; r != nil && r.HTTPGet != nil {
		both.Go(func() {
			watch(ctx, r, p.url(r, ports), false, func(well bool, _ string) bool {
				s.Ready = well
				p.report(ctx, s)
				return true
			})
		})
	}
	if r := c.LivenessProbe; r != nil && r.HTTPGet != nil {
		both.Go(func() {
			watch(ctx, r, p.url(r, ports), true, func(well bool, why string) bool {
				if well {
					return true
				}
				unwell <- "Liveness probe failed: " + why
				return false
			})
		})
	}
	both.Wait()
}

// url is where a probe asks.
func (p *pod) url(r *corev1.Probe, ports map[int]int) string {
	port := r.HTTPGet.Port.IntValue()
	for _, c := range p.Spec.Containers[0].Ports {
		if c.Name == r.HTTPGet.Port.String() {
			port = int(c.ContainerPort)
		}
	}
	scheme := "http://"
	if r.HTTPGet.Scheme == corev1.URISchemeHTTPS {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(loopback, strconv.Itoa(cmp.Or(ports[port], port))) + r.HTTPGet.Path
}

// watch asks url as the probe says, takes the container for well or not at first, and tells of each change until tell
// returns false.
func watch(ctx context.Context, r *corev1.Probe, url string, well bool, tell func(well bool, why string) bool) {
	client := &http.Client{Timeout: time.Duration(cmp.Or(r.TimeoutSeconds, 1)) * time.Second}
	defer client.CloseIdleConnections()
	if !sleep(ctx, time.Duration(r.InitialDelaySeconds)*time.Second) {
		return
	}
	// Until it is well for the first time a container is asked more often, so that people do not wait.
	const soon = 200 * time.Millisecond
	usual := time.Duration(cmp.Or(r.PeriodSeconds, 10)) * time.Second
	pause := usual
	if !well {
		pause = min(soon, usual)
	}
	good, bad := int32(0), int32(0)
	for {
		why := ask(ctx, client, url)
		if ctx.Err() != nil {
			return
		}
		if why == "" {
			good, bad, pause = good+1, 0, usual
		} else {
			good, bad = 0, bad+1
		}
		was := well
		well = good >= cmp.Or(r.SuccessThreshold, 1) || well && bad < cmp.Or(r.FailureThreshold, 3)
		if well != was && !tell(well, why) || !sleep(ctx, pause) {
			return
		}
	}
}

// ask returns what is wrong with the answer; empty: nothing.
func ask(ctx context.Context, client *http.Client, url string) string {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	res, err := client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode >= 400 {
		return fmt.Sprintf("HTTP probe failed with statuscode: %d", res.StatusCode)
	}
	return ""
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
