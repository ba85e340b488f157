// Package crash kills the controller before and after every write it makes, to Kubernetes and to the cloud, and looks whether anything is lost, leaked or bought twice.
//
// By default it dies at one moment. TENON_TEST_CRASH=all has it die at each, which
// takes half an hour; -run 'KilledAtEveryWrite/_write_4[0-9]$' has a part of them.
package crash
