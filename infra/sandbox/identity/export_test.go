package identity

// Words of the page, exported for the tests.
var (
	Shapes = shapes
	Faults = faults
)
