package identity

// Texts of the page, exported for tests.
var (
	Shapes = shapes
	Faults = faults
)
