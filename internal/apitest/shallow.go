package apitest

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Shallow returns a copy of an object that shares all but its own fields. An
// encoder writes the kind into what it encodes, and takes it back: a server
// whose objects several requests read gives it a copy.
func Shallow(o runtime.Object) runtime.Object {
	v := reflect.ValueOf(o).Elem()
	c := reflect.New(v.Type())
	c.Elem().Set(v)
	out, ok := c.Interface().(runtime.Object)
	if !ok {
		return o // what is encoded is an object, and so is its copy
	}
	return out
}
