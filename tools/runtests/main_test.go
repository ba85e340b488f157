package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	alone, beside := split(`
github.com/tenon-sh/tenon/engine/fit 11 errors github.com/google/go-cmp/cmp
github.com/tenon-sh/tenon/engine/empty 00 errors
github.com/tenon-sh/tenon/internal/kubetest 10 testing
github.com/tenon-sh/tenon/internal/enact 01 context github.com/tenon-sh/tenon/internal/kubetest
github.com/tenon-sh/tenon/internal/many 010 context
github.com/tenon-sh/tenon/test/documents/000 01 github.com/tenon-sh/tenon/test/documents/walk
github.com/tenon-sh/tenon/test/documents/001 01 github.com/tenon-sh/tenon/internal/kubetest
`)
	if diff := cmp.Diff([]string{module + "/engine/fit", module + "/internal/many"}, alone); diff != "" {
		t.Errorf("need nothing but Go: %s", diff)
	}
	if diff := cmp.Diff([]string{module + "/internal/kubetest", module + "/internal/enact", shortest}, beside); diff != "" {
		t.Errorf("run beside a control plane: %s", diff)
	}
}
