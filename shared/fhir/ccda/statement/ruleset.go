package statement

// RuleSet holds the rules of one section package.
type RuleSet struct {
	Folder   string // of the package, below this one's parent
	Sections []Section
	Entries  []Entry
}
