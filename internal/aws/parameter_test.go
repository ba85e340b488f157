package aws_test

import (
	"strings"
	"testing"
	"testing/synctest"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// A parameter that is not there is named, and is asked for again as soon as the
// class is edited.
func TestMissingParameter(t *testing.T) {
	credentials(t)
	tests := map[string]struct {
		selector nodeclass.ImageSelector
		says     []string
	}{
		"Own":   {nodeclass.ImageSelector{Parameter: "/ours/image"}, []string{"SSM has no parameter /ours/image", "create it"}},
		"Alias": {nodeclass.ImageSelector{Alias: "al2023@v20200101"}, []string{"alias al2023@v20200101", "Kubernetes 1.34", "/amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.34-v20200101/image_id"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				generation := int64(1)
				w := &virtual{t: t, change: func(c *nodeclass.Class) {
					c.Images, c.Generation = []nodeclass.ImageSelector{tc.selector}, generation
				}}
				d := w.start()
				look := func() *cloud.Error {
					t.Helper()
					got, err := d.Inspect(t.Context(), templateOf().Class)
					if err != nil {
						t.Fatal(err)
					}
					return got.Broken[awsv1.ConditionAMIsReady]
				}
				e := look()
				for _, part := range tc.says {
					if e == nil || e.Reason != awsv1.ReasonAMINotFound || !strings.Contains(e.Error(), part) || strings.Contains(e.Error(), "share") {
						t.Errorf("the condition does not say %q but %v", part, e)
					}
				}
				asked := w.calls("GetParameter")
				if look(); w.calls("GetParameter") != asked {
					t.Error("it is asked for again although nothing has changed")
				}
				generation++
				if look(); w.calls("GetParameter") == asked {
					t.Error("after an edit of the class it is not asked for again")
				}
			})
		})
	}
}
