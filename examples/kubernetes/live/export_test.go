package live

// IsStale is for tests.
var IsStale = isStale
