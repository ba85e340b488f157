// Package document004 follows document 004: inference on GPUs, from the first machine to six and back to none.
package document004
