package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/metric"
)

// telling is a driver that says what it sends.
type telling struct {
	cloud.Driver

	to func(access.Done)
}

func (t *telling) Observe(to func(access.Done)) { t.to = to }

// What is sent to the API server and to AWS is counted under the names of the libraries that send it.
func TestCounted(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/secrets") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []}`))
	}))
	defer api.Close()
	registry := prometheus.NewPedanticRegistry()
	m, err := metric.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	driver := &telling{}
	c := Config{Kubernetes: &rest.Config{Host: api.URL}, Driver: driver, Now: clock.Wall}.counted(m)
	k, err := kubernetes.NewForConfig(c.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = k.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	_, _ = k.CoreV1().Secrets("d").Get(t.Context(), "s", metav1.GetOptions{})
	driver.to(access.Done{Service: "EC2", Action: "CreateFleet", Code: 500, Took: time.Second})
	driver.to(access.Done{Service: "EC2", Action: "CreateFleet", Code: 200, Took: time.Second})
	driver.to(access.Done{Service: "EC2", Action: "CreateFleet", Code: 200, Took: 3 * time.Second, Attempts: 2})

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "client_go") && !strings.HasPrefix(f.GetName(), "aws_sdk") {
			continue
		}
		for _, one := range f.GetMetric() {
			var labels []string
			for _, l := range one.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			got[f.GetName()+" "+strings.Join(labels, ",")] = one.GetCounter().GetValue() + float64(one.GetHistogram().GetSampleCount())
		}
	}
	want := map[string]float64{
		"client_go_request_total 200,GET":                                 1,
		"client_go_request_total 403,GET":                                 1,
		"client_go_request_duration_seconds ,pods,,LIST,v1":               1,
		"client_go_request_duration_seconds ,secrets,,GET,v1":             1,
		"aws_sdk_go_request_total CreateFleet,200,EC2":                    1,
		"aws_sdk_go_request_duration_seconds CreateFleet,200,EC2":         1,
		"aws_sdk_go_request_retry_count CreateFleet,200,EC2":              1,
		"aws_sdk_go_request_attempt_total CreateFleet,200,EC2":            1,
		"aws_sdk_go_request_attempt_total CreateFleet,500,EC2":            1,
		"aws_sdk_go_request_attempt_duration_seconds CreateFleet,200,EC2": 1,
		"aws_sdk_go_request_attempt_duration_seconds CreateFleet,500,EC2": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAboutOf(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         about
		not          bool
	}{
		{method: "GET", path: "/api/v1/pods?limit=500", want: about{"LIST", "", "v1", "pods", ""}},
		{method: "GET", path: "/api/v1/namespaces/d/pods", want: about{"LIST", "", "v1", "pods", ""}},
		{method: "GET", path: "/api/v1/namespaces/d/pods/p", want: about{"GET", "", "v1", "pods", ""}},
		{method: "GET", path: "/api/v1/namespaces/d", want: about{"GET", "", "v1", "namespaces", ""}},
		{method: "PUT", path: "/api/v1/namespaces/d/finalize", want: about{"UPDATE", "", "v1", "namespaces", "finalize"}},
		{method: "POST", path: "/api/v1/namespaces/d/pods/p/eviction", want: about{"CREATE", "", "v1", "pods", "eviction"}},
		{method: "PATCH", path: "/apis/karpenter.sh/v1/nodeclaims/c/status", want: about{"PATCH", "karpenter.sh", "v1", "nodeclaims", "status"}},
		{method: "PUT", path: "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l", want: about{"UPDATE", "coordination.k8s.io", "v1", "leases", ""}},
		{method: "DELETE", path: "/apis/karpenter.sh/v1/nodeclaims/c", want: about{"DELETE", "karpenter.sh", "v1", "nodeclaims", ""}},
		{method: "GET", path: "/apis/karpenter.sh/v1/nodeclaims?watch=true", not: true},
		{method: "GET", path: "/version", not: true},
		{method: "GET", path: "/apis/karpenter.sh/v1", not: true},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "https://api"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := aboutOf(r); ok == c.not || ok && got != c.want {
			t.Errorf("%s %s: %+v, measured: %v; want %+v, %v", c.method, c.path, got, ok, c.want, !c.not)
		}
	}
}
