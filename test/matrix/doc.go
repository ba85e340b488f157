// Package matrix tells each story of a cluster once for every fault that can befall it: the whole controller, in virtual time.
//
// TestMatrix does so under one fault at a time, TestPairs under every two of
// different kinds that overlap. A fixed share of both gates every change; parts of
// make test-all have the rest.
//
// The controller is the one of internal/app, put together as it is in a pod, with
// its watches, caches, queues and timers. The API server is a map behind an
// http.RoundTripper that obeys the law of internal/apitest, the cloud is the
// simulated market, and kubelets, kube-scheduler and the controllers of
// workloads are played. Nothing sleeps: a pair of a fault and a story lives an
// hour or two of its own time in less than a second.
//
// The result is a table, docs/faults.md, which the run writes.
package matrix
