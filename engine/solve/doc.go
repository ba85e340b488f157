// Package solve chooses machines for classes of items at least cost.
//
// It knows nothing of pods or Kubernetes: items need amounts, hosts have room and a price, and the answer says which hosts to open,
// what goes on each, and how far from the best that can be. It is a pure function of the problem: the same problem gives the same
// answer, byte for byte, on every machine. Integers decide; floats only guide the search.
//
// # The idea
//
// Let items be poured like water, and the problem becomes easy: a linear program, whose prices say what a millicore here and a
// mebibyte there are worth (relaxation.go). Two things follow. What all items together are worth at such prices is a bound: no plan costs
// less (proof.go recomputes it in integers, rounded the safe way). And the prices tell the search which items belong on which hosts.
//
// # The search
//
//	compile.go   drop what cannot matter: dimensions that no item needs, hosts that another always beats, items no host can take
//	attain.go    and room that no sum of needs fills
//	total.go     nor all items together
//	firstfit.go  the plan of a scheduler without an optimiser; the answer is never dearer with the charge
//	cover.go     one class alone: the best plan, by counting up
//	exact.go     a dozen items: the best plan, by taking the whole apart in every way, with one host, two, three…
//	relaxation.go     the relaxation: hosts by kind, classes by aggregate, caps
//	prices.go    its prices a unit, and which kinds of hosts matter at these
//	climb.go     its prices, better from round to round
//	fill.go      one host: item after item, such that what matters runs out at the same time
//	tournament.go and which item is the next one: the best of many scores, again and again while it gets worse
//	greedy.go    all hosts: the one that holds most for its price, again and again, at prices found again as items get fewer
//	mix.go       another start: the relaxation's mix of hosts, all opened at once, and every item where free room points its way
//	knapsack.go  the load of a host that is worth most, in whole items
//	master.go    the linear program of patterns, a pattern being what one host holds
//	patterns.go  where there are few classes: a start from that program, rounded, and a tighter bound
//	blocks.go    a bound that takes items by themselves that few hosts take
//	simplex.go   the relaxation solved to the end, beside hosts that are open already
//	tableau.go   a small linear program: hosts of each kind that meet some demands
//	whole.go     how many hosts of each kind there are at least, counted in whole hosts: a tighter bound of price and charge
//	improver.go  a solution of which hosts are emptied, and how items come into free room
//	regroup.go   a few hosts at once for what was on others, so that the last of them does not stand half empty
//	improve.go   empty a few hosts, fill them again at slightly different prices, keep what is not dearer; as long as that pays
//	ration.go    what to do when budgets do not suffice: serve ranks in order
//	search.go    the best that was found
//	solve.go     all of this in order
//	slice.go     and for very many classes so many at a time
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
