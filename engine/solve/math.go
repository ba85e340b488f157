package solve

import "math"

// root4 is the fourth root, made of the square roots that every architecture computes alike.
func root4(x float64) float64 { return math.Sqrt(math.Sqrt(x)) }
