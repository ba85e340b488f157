package controller

// What tests look at.
var (
	MemoryLimit    = memoryLimit
	WorthReturning = worthReturning
)
