// Package faults runs the whole product while something is wrong: with Kubernetes, with the cloud, or with the controller itself.
package faults
