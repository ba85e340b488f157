// Package damage feeds damaged inputs of every format to what reads them.
//
// An input is made from a number, its seed: a sound sample of the format in which
// something is cut, doubled, swapped, mistyped or put where it does not belong,
// in its bytes or in the tree that they mean. Whatever comes of it, the reader
// must not panic or hang, and what it refuses it refuses whole, in words that a
// person can read and that name the place.
package damage
