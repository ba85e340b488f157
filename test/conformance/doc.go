// Package conformance looks at the product as its users do, through the API alone, and checks what they rely on: objects, statuses, conditions, events, labels, taints, annotations.
//
// All checks share one cluster and, as far as they can, one controller: each has
// a namespace and pools of its own. Those that last longer than a few seconds
// run with TENON_TEST_CONFORMANCE=all.
package conformance
