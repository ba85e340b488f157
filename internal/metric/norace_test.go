//go:build !race

package metric_test

const raceDetector = false
