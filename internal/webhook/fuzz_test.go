package webhook_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/tenon-sh/tenon/internal/webhook"
)

// Whatever is posted, it gets an answer: to a review one that belongs to it, to
// anything else that it is none. What is refused is told why.
func FuzzReview(f *testing.F) {
	for _, object := range []string{
		`{"metadata":{"name":"p"},"spec":{"limits":{"resources":{"cpu":"2000","a/b~c":"1e3"}},"kubeletConfiguration":{"systemReserved":{"cpu":0.5}}}}`,
		`{"spec":{"requirements":[{"key":"a","operator":"Gt","values":["x"]}],"taints":[{"key":"","effect":"x"}],"ttlSecondsAfterEmpty":-1,"consolidation":{"enabled":true},"provider":{"a":1}}}`,
		`{"spec":{"amiFamily":"Custom","subnetSelector":{"a":""},"userData":"\u0000","blockDeviceMappings":[{"ebs":{"volumeSize":"x"}}],"launchTemplate":"t"}}`, `null`, `[]`,
	} {
		for _, kind := range []string{"Provisioner", "AWSNodeTemplate", "Pod"} {
			f.Add([]byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"kind":"` + kind + `"},"object":` + object + `}}`))
		}
	}
	f.Add([]byte(`{"request":{}}`))
	f.Add([]byte(`{`))
	handler := webhook.Handler()
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{"/validate", "/default"} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body))))
			if w.Code == http.StatusBadRequest {
				continue
			}
			var asked, got admissionv1.AdmissionReview
			if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
				t.Fatalf("%s: no review got status %d", path, w.Code)
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Response == nil || got.Response.UID != asked.Request.UID {
				t.Fatalf("%s: the answer %s (%v)", path, w.Body, err)
			}
			if r := got.Response; !r.Allowed && (r.Result == nil || r.Result.Message == "") {
				t.Errorf("%s: refused without a word", path)
			}
			if len(got.Response.Patch) > 0 && !json.Valid(got.Response.Patch) {
				t.Errorf("%s: the patch %s", path, got.Response.Patch)
			}
		}
	})
}
