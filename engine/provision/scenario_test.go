package provision_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
)

func TestScenarios(t *testing.T) { enginetest.Run(t, "testdata/scenarios") }
