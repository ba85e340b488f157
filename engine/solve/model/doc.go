// Package model compiles a problem for searching: a Model is the problem in canonical order, without what cannot matter.
//
// All that searches and proves works on a Model and on a Solution, which says by position what goes where. What is dropped here is no
// choice for anybody above: a host that another always beats, room that no sum of needs fills, an item that no host takes. So a
// mistake in compile.go, attain.go or total.go makes plans dearer, or bounds wrong, everywhere. A Model does not change once it
// is compiled. Everything is in integers.
//
//	compile.go    drop what cannot matter: dimensions that no item needs, hosts that another always beats, items no host can take
//	attain.go     and room that no sum of needs fills
//	total.go      nor all items together
//	solution.go   ways to place the classes, what they cost and leave out
//	seed.go       solutions that come from outside, checked
//	occupancy.go  what groups and conflicts allow on one host
//	room.go       what fits into room and budgets
//	trim.go       the cheapest host for what is on one
package model
