package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Classes are read for every claim that is compared with its own, so nothing may hold them back.
func TestClassReadsAreNotHeldBack(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"}}`))
	}))
	defer server.Close()
	known, err := awsScheme()
	if err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Group: awsv1.Group, Version: "v1", Kind: "EC2NodeClass"}, meta.RESTScopeRoot)
	reader, err := client.New(unthrottled(&rest.Config{Host: server.URL}), client.Options{Scheme: known, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	find := classes(reader, AWS{})
	began := time.Now() //nolint:forbidigo // client-go's limiter knows no other clock
	for range 200 {
		if _, err := find(t.Context(), cloud.ClassRef{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}); err != nil {
			t.Fatal(err)
		}
	}
	// By five a second it would be 38 seconds.
	if took := time.Since(began); took > 20*time.Second { //nolint:forbidigo // as above
		t.Errorf("200 classes were read in %s", took)
	}
}

// A catalogue is made again for an edit of its class and for reservations that come, go or expire, and not for whatever else its status says.
func TestWhatAClassSellsChanges(t *testing.T) {
	class := func(generation int64, found ...awsv1.CapacityReservation) *awsv1.EC2NodeClass {
		c := &awsv1.EC2NodeClass{Status: awsv1.EC2NodeClassStatus{CapacityReservations: found}}
		c.Generation = generation
		return c
	}
	one, expiring := awsv1.CapacityReservation{ID: "cr-1", State: "active"}, awsv1.CapacityReservation{ID: "cr-1", State: "expiring"}
	told := class(1, one)
	told.Status.InstanceProfile = "other"
	tests := map[string]struct {
		why     string
		was, is client.Object
		want    bool
	}{
		"Edit":      {"Its spec is another.", class(1), class(2), true},
		"Found":     {"A reservation is there that was not.", class(1), class(1, one), true},
		"Cancelled": {"A reservation is gone.", class(1, one), class(1), true},
		"Expiring":  {"A block ends soon, and is of no use any more.", class(1, one), class(1, expiring), true},
		"Status":    {"What else its status says decides nothing of what it sells.", class(1, one), told, false},
		"Template":  {"AWSNodeTemplates have no reservations.", &awsv1alpha1.AWSNodeTemplate{}, &awsv1alpha1.AWSNodeTemplate{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := sellsOther(tc.was, tc.is); got != tc.want {
				t.Errorf("%t: %s", got, tc.why)
			}
		})
	}
}
