package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnly(t *testing.T) {
	all := load(t)
	one := all.Only("us-east-1")
	if diff := cmp.Diff([]string{"us-east-1"}, one.Regions()); diff != "" {
		t.Errorf("its regions: -want +got\n%s", diff)
	}
	was, is := region(t, "us-east-1"), one.Only("us-east-1")
	r, err := is.Region("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range was.Types() {
		a, known := was.Spot(typ.Name, "us-east-1b")
		b, still := r.Spot(typ.Name, "us-east-1b")
		if a != b || known != still {
			t.Errorf("the spot price of %s is %v, want %v", typ.Name, b, a)
		}
	}
	if len(r.Types()) != len(was.Types()) {
		t.Errorf("%d types are sold, want %d", len(r.Types()), len(was.Types()))
	}
	if all.Only("nowhere") != all {
		t.Error("a region that is not known leaves not all")
	}
}
