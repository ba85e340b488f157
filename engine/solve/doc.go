// Package solve chooses machines for classes of items at least cost.
//
// It knows nothing of pods or Kubernetes: items need amounts, hosts have room and a price, and the answer says which hosts to open,
// what goes on each, and how far from the best that can be. It is a pure function of the problem: the same problem gives the same
// answer, byte for byte, on every machine. Integers decide; floats only guide the search.
//
// # The idea
//
// Let items be poured like water, and the problem becomes easy: a linear program, whose dual prices say what a millicore here and a
// mebibyte there are worth (package relax). Two things follow. What all items together are worth at such prices is a bound: no plan costs
// less (package proof recomputes it in integers, rounded the safe way). And the prices tell the search which items belong on which hosts.
//
// # The packages
//
// Each knows of those above it only what it needs; this one alone knows all.
//
//	problem   what is asked and answered: items, hosts, groups, budgets
//	model     the problem without what cannot matter, in canonical order; solutions, and what fits on a host
//	firstfit  the plan of a scheduler without an optimiser; the answer is never dearer with the charge
//	exact     the best plan of one class, and of a dozen items
//	relax     the relaxation: dual prices, by mirror ascent or by the simplex method
//	proof     a bound by integer prices
//	pattern   a bound in whole items by column generation, and hosts to start from
//	integer   a bound in whole hosts by branch and bound
//	block     a bound that takes items by themselves that few hosts take
//	fill      the greedy search, which fills hosts by prices; other starts
//	improve   local search: a few hosts are emptied and filled again
//
// Here is what puts them together: solve.go has the search in order, starts.go its starts, search.go the best that was found, slice.go
// takes very many classes so many at a time, least.go has bounds without a plan.
//
// Three rules make the greedy search good. No host takes more than its fair share of a class while others could fill it, so that
// convenient items do not run out first and leave the awkward ones alone. Each pick leaves least room unused in proportion to
// what it is worth, so that a host runs out of everything at once. And prices are found again whenever a twentieth of the worth is
// placed, so that what was neglected becomes precious before it is too late.
//
// Classes of many items cost no more than classes of few: a filling is repeated on as many hosts as it fits.
//
// The search stops where little is left to gain: it knows what the relaxation costs, so it tries no further style once it is within
// 15 in a thousand of that, and improves no more once it is within 5 in a thousand or finds too little for its steps.
//
// # Two prices
//
// The search makes small the price of all hosts plus Problem.Charge for each, which favours fewer, larger hosts where that costs little.
// Cost and Bound leave the charge out. Whatever the charge, no answer costs more than first fit or a seed that leaves out as much.
// For a small problem fewer hosts may cost a twentieth more than the least price there is, not more.
package solve
