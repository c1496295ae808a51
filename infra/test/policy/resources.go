package policy

import "strconv"

// events lists the properties of a function's events of one type.
func events(f Resource, kind string) []any {
	var all []any
	for _, e := range fields(f.Properties["Events"]) {
		if scalar(at(e, "Type")) == kind {
			all = append(all, at(e, "Properties"))
		}
	}
	return all
}

// seconds reads a number, or gives what AWS takes when there is none.
func seconds(v any, unset int) int {
	n, err := strconv.Atoi(scalar(v))
	if err != nil {
		return unset
	}
	return n
}
