package statement

// RuleSet is what one section package exports.
type RuleSet struct {
	Folder   string // of the package, below this one's parent
	Sections []Section
	Entries  []Entry
}
