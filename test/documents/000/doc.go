// Package document000 follows document 000: a pod with tolerations and affinity, and the clean-up.
package document000
