package drift

// Unreserved is exported for tests.
var Unreserved = unreserved
