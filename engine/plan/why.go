package plan

// The reasons for giving a machine back, as budgets and conditions name them.
const (
	Empty         = "Empty"         // nothing runs there
	Expired       = "Expired"       // it has reached its pool's age
	Underutilized = "Underutilized" // its pods have places elsewhere, or on something cheaper
	Drifted       = "Drifted"       // it is no longer what its pool asks for
)
