package platform

// Parse gives tests the parser of one file.
func Parse(text string) (Profile, error) { return parse(text) }

// RegistryOf gives tests a registry of one profile.
func RegistryOf(p Profile) Registry { return Registry{profiles: map[string]Profile{p.ID: p}} }
