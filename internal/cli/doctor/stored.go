package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/aws/examine"
)

// beta is the version that v0.32 to v0.37 stored objects in, which is not served here.
const beta = "v1beta1"

// stored looks in which versions the kinds keep their objects. A user who may not read them is shown nothing.
func stored(ctx context.Context, c client.Reader) []examine.Finding {
	var old []string
	for _, name := range []string{"nodeclaims.karpenter.sh", "nodepools.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"} {
		crd := &unstructured.Unstructured{}
		crd.SetAPIVersion("apiextensions.k8s.io/v1")
		crd.SetKind("CustomResourceDefinition")
		if c.Get(ctx, client.ObjectKey{Name: name}, crd) != nil {
			continue
		}
		versions, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
		if slices.Contains(versions, beta) {
			old = append(old, name)
		}
	}
	if len(old) == 0 {
		return nil
	}
	return []examine.Finding{{
		Level: examine.Bad, Check: "kinds", Says: fmt.Sprintf("objects of %s are stored as %s, as Karpenter v0.32 to v0.37 did", strings.Join(old, ", "), beta),
		Fix: "scale Karpenter to 0, then: tenon convert --cluster (docs/guide/migrate.md, From v1beta1)",
	}}
}
