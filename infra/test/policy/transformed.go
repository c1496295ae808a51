package policy

import (
	"fmt"
	"reflect"

	"recordbridge/infra/local/template"
)

// Transformed finds permissions that SAM adds to the functions of a template or loses, by the template as it has
// transformed it: what is tried out on a laptop has to be all that is deployed.
func Transformed(functions []template.Function, file string, o template.Options) ([]Finding, error) {
	allowed, err := template.Permissions(file, o)
	if err != nil {
		return nil, fmt.Errorf("read what functions may do: %w", err)
	}
	var found findings
	for _, f := range functions {
		if got, known := allowed[f.LogicalID]; !known || !reflect.DeepEqual(got, f.Statements) {
			found.addf(f.LogicalID, "may do something else after SAM's transform: %v", got)
		}
		delete(allowed, f.LogicalID)
	}
	for id := range allowed {
		found.addf(id, "is a function that SAM adds")
	}
	return found.sorted(), nil
}
