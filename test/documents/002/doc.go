// Package document002 follows document 002: 20 pods that are spread by host and zone, beside Fargate nodes.
package document002
