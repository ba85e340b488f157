// Package catalog is the bundled list of EC2 instance types, where they are offered, and what they cost.
//
// It is data, and knows neither the SDK nor Kubernetes: drivers fall back on it
// when a price API is silent, the simulated market sells from it, and the
// command line answers from it without an account.
//
// The data is made by tools/catalog and lies compressed in catalog.bin. It was
// gathered in August 2026: types on the 2nd, offerings on the 1st, on-demand
// prices of us-east-1 and of the us-gov regions on 20 July, those of cn-north-1
// in November 2024. Every other on-demand price, and nearly every spot price,
// is made up from those and says so: Price.Synthetic. Offerings in the cn and
// us-gov regions are not known; there a type that has a price is taken to be
// offered in every zone, and Region.Assumed says so.
package catalog
