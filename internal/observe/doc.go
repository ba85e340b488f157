// Package observe turns one Kubernetes object into one value of engine/world.
//
// It asks nothing and keeps nothing: the same object always gives the same
// value. Whatever an object says, the answer is a value; what cannot be
// planned for is among its Problems, and nothing here panics or fails.
package observe
