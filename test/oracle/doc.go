// Package oracle makes clusters by chance, plans for them, and asks kube-scheduler's own plugins whether the plan is right.
//
// A cluster is made of Kubernetes' own objects, so that reading them is put to
// the test as well. The plugins run in a program of the controlplane module;
// this package starts it and speaks to it by encoding/gob. What came of it is
// told in docs/judges.md.
package oracle
