package controller

// What tests look at.
var (
	MemoryLimit    = memoryLimit
	Tight          = tight
	WorthReturning = worthReturning
)
