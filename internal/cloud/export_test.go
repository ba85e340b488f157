package cloud

// Remembered is how many offers a Cloud remembers refusals of.
func Remembered(c *Cloud) int { return len(c.refusals.asks) }
