// Package beside holds the driver for EC2 against servers that speak AWS's protocols and that this project did not write.
package beside
