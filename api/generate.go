// Package api holds the objects users write. It is data: its subfolders import nothing else of this module.
package api

//go:generate go tool -modfile=../tools/pinned/go.mod controller-gen object crd paths=./... output:crd:dir=crds
//go:generate go run ../tools/crds crds
