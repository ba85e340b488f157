// Package document001 follows document 001: a cluster in China, from the chart to the empty cluster, and its errors.
package document001
