package views

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed builtin/*.json
var builtin embed.FS

// BuiltinNames lists the built-in views.
func BuiltinNames() []string {
	return []string{"patients", "encounters", "conditions", "medications", "labs"}
}

// BuiltinJSON returns the ViewDefinition of a built-in view.
func BuiltinJSON(name string) ([]byte, error) {
	data, err := fs.ReadFile(builtin, "builtin/"+name+".json")
	if err != nil {
		return nil, fmt.Errorf("no built-in view has the name %q", name)
	}
	return data, nil
}
