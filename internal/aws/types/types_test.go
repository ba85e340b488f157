package types_test

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/catalog"
)

func loadCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGolden compares every type with what its nodes are known to leave to pods
// and to be labelled with, for a default AL2023 class. The table is made by
// tools/catalog; a question mark is a value that EC2 has since changed.
func TestGolden(t *testing.T) {
	f, err := os.Open("testdata/golden.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	c := loadCatalog(t)
	header, compared := lines[0], 0
	for _, line := range lines[1:] {
		typ, ok := c.Type(line[0])
		if !ok {
			t.Errorf("%s is not in the catalogue", line[0])
			continue
		}
		shape := types.Shape(typ, types.Default("us-east-1"))
		for i := 1; i < len(header); i++ {
			got, want := valueOf(shape, header[i]), line[i]
			if want == "?" {
				continue
			}
			compared++
			if got != want {
				t.Errorf("%s: %s is %q, want %q", line[0], header[i], got, want)
			}
		}
	}
	if types := len(lines) - 1; types != 1363 || compared < 1363*32 {
		t.Errorf("compared %d values of %d types, want 1363 types", compared, types)
	}
}

// valueOf is a shape's cell of the golden table: blank for a resource or label
// it lacks, two quotes for a label that is there and empty.
func valueOf(s world.Shape, column string) string {
	if left := s.Allocatable(); !strings.HasPrefix(column, "instance-") && !strings.HasPrefix(column, "kubernetes.io/") {
		v, ok := left.Find(column)
		switch {
		case !ok:
			return ""
		case column == amount.CPU:
			return amount.Text("", v) // thousandths
		case column == amount.Memory:
			return amount.Text("", v>>20) + "Mi"
		}
		return amount.Text(column, v)
	}
	key := column
	if strings.HasPrefix(column, "instance-") {
		key = "karpenter.k8s.aws/" + column
	}
	r, ok := s.Labels.Find(key)
	switch {
	case !ok || len(r.Values) == 0:
		return ""
	case len(r.Values) > 1:
		return strings.Join(r.Values, "|")
	case r.Values[0] == "":
		return `""`
	}
	return r.Values[0]
}
