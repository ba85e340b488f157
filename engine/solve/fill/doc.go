// Package fill places items by filling hosts, one after the other or many at once, guided by the prices of package relax.
//
// A Packer has the buffers for one model. What one host takes is decided item by item (packer.go, by a tournament of scores); which host is
// next by what it holds for its price (greedy.go). Inner loops here are most of the time of a decision: look at the benchmarks of
// package solve before and after a change.
//
//	packer.go      one host: item after item, such that what matters runs out at the same time
//	tournament.go  and which item is the next one: the best of many scores, again and again while it gets worse
//	greedy.go      all hosts: the one that holds most for its price, again and again, at prices found again as items get fewer
//	style.go       how one greedy start differs from another
//	mix.go         another start: the relaxation's mix of hosts, all opened at once, and every item where free room points its way
//	ration.go      what to do when budgets do not suffice: serve ranks in order
package fill
