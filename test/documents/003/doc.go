// Package document003 follows document 003: a Spark job whose driver runs on demand and whose executors run on spot.
package document003
