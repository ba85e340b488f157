package v1alpha1_test

import (
	"testing"

	"github.com/tenon-sh/tenon/api/aws/v1alpha1"
)

// Whatever a Provisioner holds under provider, it is read or refused with words.
func FuzzProvider(f *testing.F) {
	for _, s := range []string{`{}`, `{"subnetSelector":{"a":"b"}}`, `{"a":1}`, `{}{}`, `null`, `{"blockDeviceMappings":[{"ebs":{"volumeSize":"20Gi"}}]}`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := v1alpha1.ParseProvider(raw)
		if (p == nil) == (err == nil) || err != nil && err.Error() == "" {
			t.Errorf("%q: %v, %v", raw, p, err)
		}
	})
}
