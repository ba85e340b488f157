package host

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A node that was taken for dead, while the API server answered nothing, says that it is ready again; one that is
// ready renews its lease and writes nothing else.
func TestAlive(t *testing.T) {
	for name, tc := range map[string]struct {
		ready corev1.ConditionStatus
		want  string
	}{
		"Ready":   {corev1.ConditionTrue, "PUT leases/p"},
		"Dead":    {corev1.ConditionUnknown, "POST v1/nodes, PUT p/status, PUT leases/p"},
		"Deleted": {"", "POST v1/nodes, PUT p/status, PUT leases/p"},
	} {
		t.Run(name, func(t *testing.T) {
			status := metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
			node := corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: tc.ready}}
			there := tc.ready != ""
			var wrote []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				part := strings.Split(r.URL.Path, "/")
				var answer any = &node
				switch {
				case strings.Contains(r.URL.Path, "leases"):
					answer = &coordinationv1.Lease{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}, ObjectMeta: node.ObjectMeta}
				case r.Method == http.MethodPost && there:
					w.WriteHeader(http.StatusConflict)
					answer = &metav1.Status{TypeMeta: status, Status: metav1.StatusFailure, Reason: metav1.StatusReasonAlreadyExists, Code: http.StatusConflict}
				case r.Method == http.MethodPut:
					if err := json.NewDecoder(r.Body).Decode(&node); err != nil {
						t.Error(err)
					}
				case r.Method == http.MethodGet && !there:
					w.WriteHeader(http.StatusNotFound)
					answer = &metav1.Status{TypeMeta: status, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound}
				}
				if r.Method != http.MethodGet {
					wrote = append(wrote, r.Method+" "+strings.Join(part[len(part)-2:], "/"))
					there = true
				}
				_ = json.NewEncoder(w).Encode(answer)
			}))
			defer server.Close()
			client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
			if err != nil {
				t.Fatal(err)
			}
			defer client.CoreV1().RESTClient().(*rest.RESTClient).Client.CloseIdleConnections()
			h := &Host{o: Options{Client: client, Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, Now: time.Now}}
			if err := h.alive(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(wrote, ", "); got != tc.want {
				t.Errorf("it wrote %s, want %s", got, tc.want)
			}
			if c := node.Status.Conditions[0]; c.Status != corev1.ConditionTrue {
				t.Errorf("it is ready: %s", c.Status)
			}
		})
	}
}
