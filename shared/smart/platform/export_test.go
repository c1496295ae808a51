package platform

// Parse gives tests the parser of one file.
func Parse(text string) (Profile, error) { return parse(text) }
