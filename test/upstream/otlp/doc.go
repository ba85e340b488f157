// Package otlp asks the receiver of OpenTelemetry's collector what it makes of our spans.
//
// It is a module of its own: the collector brings more libraries than the product
// has, for one test.
package otlp
