package solve

// style is what distinguishes one start of the search from another.
type style struct {
	slack float64 // no host takes more than slack times its fair share of a class, until nothing else fits; 0 is no such rule
	pull  float64 // how much it counts against an item that another host would take it for less
	again float64 // prices are found again whenever only this part of the worth is left; 0 is never
	crowd float64 // no host takes more than crowd times its fair share of the worth when a cap demands many hosts; 0 is no such rule
	loose float64 // hosts that are dearer than the cheapest by up to this part are considered
}
