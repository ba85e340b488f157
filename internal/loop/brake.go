package loop

// TooMany reports whether so many of some nodes are ill that the cause is likely
// elsewhere: more than a fifth, rounded up.
func TooMany(ill, nodes int) bool { return ill > (nodes+4)/5 }
