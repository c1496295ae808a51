package platform

// Parse exposes the profile parser to tests.
func Parse(text string) (Profile, error) { return parse(text) }

// RegistryOf returns a registry that contains a single profile.
func RegistryOf(p Profile) Registry { return Registry{profiles: map[string]Profile{p.ID: p}} }
