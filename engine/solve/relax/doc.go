// Package relax is the linear relaxation: items are poured like water, and its dual prices say what each is worth.
//
// A Relaxation is of some kinds of hosts. Prices get better from round to round by mirror ascent (climb.go), or are solved to the end by the
// simplex method where there are few kinds (simplex.go). A Pricing is what filling hosts needs of it. All of it is in floats, which guide
// the search: nothing here is proven or decided, and package proof makes integers of the prices. Whatever changes a price here
// changes where the search goes, and so all plans.
//
//	kinds.go       hosts by kind, as the relaxation sees them
//	relaxation.go  classes that it cannot tell apart as one aggregate, and the caps it heeds
//	prices.go      shares as prices a unit, and which kinds of hosts matter at these
//	climb.go       better prices, from round to round
//	pricing.go     prices for those who fill hosts
//	simplex.go     the relaxation solved to the end, beside hosts that are open already
package relax
