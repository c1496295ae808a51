package platform

func Parse(text string) (Profile, error) { return parse(text) }

func RegistryOf(p Profile) Registry { return Registry{profiles: map[string]Profile{p.ID: p}} }
