package platform

// Parse gives tests the parser of one file.
func Parse(text string) (Profile, error) { return parse(text) }

// BookOf gives tests a book of one profile.
func BookOf(p Profile) Book { return Book{profiles: map[string]Profile{p.ID: p}} }
