// Package problem holds what the solver is asked and what it answers: items, hosts, groups and budgets; nodes and what is left over.
//
// They are values for callers to fill in and to read; nothing here decides. The words are the solver's own: it knows nothing of pods.
package problem

// Problem is what has to be placed, where it may go and what that costs.
// Names, not positions, break ties: the order of Items and Hosts does not change the cost of the answer.
type Problem struct {
	Items    []Item   // what is to be placed
	Hosts    []Host   // what can be opened
	Groups   []Group  // what may not be together in any number
	Budgets  []int64  // what all opened hosts together may draw, one number a budget
	Charge   int64    // micro-dollars per hour added per host while searching; no part of any reported cost
	Steps    int      // bound on the counted work spent on improving; 0 is DefaultSteps, below 0 is none
	Shared   bool     // others come afterwards that may use the room that is left: it is not filled up wherever that saves little
	Unproven bool     // the answer's bound and duals are not wanted
	Seeds    []Answer // known solutions: the answer costs no more with the charge, and for a small problem no more without it; invalid ones are ignored
}

// DefaultSteps is the counted work of one Solve, roughly one step for one look at one class.
const DefaultSteps = 20_000_000

// Item is a class of Count items that nothing tells apart.
type Item struct {
	Name      string  // unique; breaks ties
	Rank      int     // lower ranks are served first when budgets do not suffice for all
	Count     int     // how many there are
	Need      []int64 // what one of them takes, a number for each dimension, the most important first
	PerHost   int     // at most so many of them on one host; 0 is no cap
	Hosts     Bits    // the hosts, by position in Problem.Hosts, that may take them
	Conflicts []int   // positions of items that may not share a host with them; one direction suffices
}

// Host is a kind of host, of which any number may be opened.
type Host struct {
	Name  string  // unique; breaks ties
	Room  []int64 // what one has to give, a number for each dimension
	Price int64   // micro-dollars per hour
	Draws []Draw  // what one draws from the budgets
}

// Draw is what opening one host takes from a budget.
type Draw struct {
	Budget int   // by position in Problem.Budgets
	Amount int64 // what one host takes of it
}

// Group says that at most Cap items of its members, taken together, may share a host.
type Group struct {
	Members []int // positions in Problem.Items
	Cap     int   // at least 1
}

// Answer says which hosts to open and what goes on them.
type Answer struct {
	Nodes []Node    // the opened hosts
	Left  []Portion // what no host can take, or budgets do not allow
	Cost  int64     // micro-dollars per hour of all nodes, without Charge
	Bound int64     // proven: no way to place the same items costs less
	Duals []int64   // what one item of each class is worth at prices that prove a bound, micro-dollars per hour
	Steps int       // the counted work
}

// Node is Times equal hosts and what each of them holds.
type Node struct {
	Host  int       // by position in Problem.Hosts
	Times int       // how many hosts hold the same
	Items []Portion // sorted by item
}

// Portion is Count items of the class Item.
type Portion struct {
	Item  int // by position in Problem.Items
	Count int // how many of its items
}
