package device

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

// selection is which devices a request accepts: the selectors of its class and its own, and its tolerations.
type selection struct {
	id          string
	class       string
	selectors   []resourcev1.DeviceSelector // the class's first
	tolerations []resourcev1.DeviceToleration
	compiled    []cel.CompilationResult
	wrong       string // why it cannot be compiled
	failed      string // why it cannot be evaluated for some device that is free
	failedTaken string // the same of one that is taken, which those look at that want all
	elsewhere   bool   // it accepts a device that is of no single node
}

// selectionID tells selections apart.
func selectionID(class string, selectors []resourcev1.DeviceSelector, tolerations []resourcev1.DeviceToleration) string {
	text, err := json.Marshal([]any{class, selectors, tolerations})
	if err != nil {
		return class
	}
	sum := sha256.Sum256(text)
	return class + "/" + hex.EncodeToString(sum[:6])
}

// compile compiles the selectors. The limit of what evaluating one may cost is that of Kubernetes.
func (s *selection) compile() {
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true})
	for _, x := range s.selectors {
		r := compiler.CompileCELExpression(x.CEL.Expression, cel.Options{DisableCostEstimation: true})
		if r.Error != nil {
			s.wrong = fmt.Sprintf("selector %q cannot be compiled: %s", x.CEL.Expression, r.Error.Detail)
			return
		}
		s.compiled = append(s.compiled, r)
	}
}

// fails notes that the selection cannot be evaluated for a device. Of several reasons the least stays, whichever comes first.
func (s *selection) fails(why string, taken bool) {
	to := &s.failed
	if taken {
		to = &s.failedTaken
	}
	if *to == "" || why < *to {
		*to = why
	}
}

// answer is what a selection says of a kind of device.
type answer struct {
	accepts bool
	failed  string
}

// ask evaluates the selectors for a kind of device, in order, until one does not accept it.
func (s *selection) ask(k *kind) answer {
	input := cel.Device{Driver: k.driver, AllowMultipleAllocations: k.several, Attributes: k.attributes, Capacity: k.capacity}
	for i := range s.compiled {
		accepts, _, err := s.compiled[i].DeviceMatches(context.Background(), input) // its cost ends it
		if err != nil {
			return answer{failed: fmt.Sprintf("selector %q cannot be evaluated for devices of %s: %v", s.selectors[i].CEL.Expression, k.driver, err)}
		}
		if !accepts {
			return answer{}
		}
	}
	return answer{accepts: true}
}

// tolerates reports whether taints of the device keep it from no request of the selection.
func (s *selection) tolerates(taints []resourcev1.DeviceTaint) bool {
	return !slices.ContainsFunc(taints, func(t resourcev1.DeviceTaint) bool {
		if t.Effect != resourcev1.DeviceTaintEffectNoSchedule && t.Effect != resourcev1.DeviceTaintEffectNoExecute {
			return false
		}
		return !slices.ContainsFunc(s.tolerations, func(o resourcev1.DeviceToleration) bool {
			switch {
			case o.Effect != "" && o.Effect != t.Effect, o.Key != "" && o.Key != t.Key:
				return false
			case o.Operator == resourcev1.DeviceTolerationOpExists:
				return true
			}
			return o.Value == t.Value
		})
	})
}
