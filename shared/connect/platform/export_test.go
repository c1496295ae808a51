package platform

// Parse exposes the parser of one file to tests.
func Parse(text string) (Profile, error) { return parse(text) }

// RegistryOf returns a registry of one profile for tests.
func RegistryOf(p Profile) Registry { return Registry{profiles: map[string]Profile{p.ID: p}} }
