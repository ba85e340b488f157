// Package swap takes the place of older Karpenters: clusters that store objects of theirs are converted, and the controller goes on with them.
package swap
