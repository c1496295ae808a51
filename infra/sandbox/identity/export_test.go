package identity

// The words of the page, which the tests go through.
var (
	Shapes = shapes
	Faults = faults
)
