// Package crash kills the controller before and after every write it makes, to Kubernetes and to the cloud, and looks whether anything is lost, leaked or bought twice.
package crash
