package fill

// Style is what distinguishes one start of the search from another.
type Style struct {
	FairShare    float64 // no host takes more than fairShare times its fair share of a class, until nothing else fits; 0 is no such rule
	DetourWeight float64 // how much it counts against an item that another host would take it for less
	Reprice      float64 // prices are found again whenever only this part of the worth is left; 0 is never
	CapShare     float64 // no host takes more than capShare times its fair share of the worth when a cap demands many hosts; 0 is no such rule
	Excess       float64 // hosts that are dearer than the cheapest by up to this part are considered
}
