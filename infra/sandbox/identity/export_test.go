package identity

var (
	Shapes = shapes
	Faults = faults
)
