// Package body reads the structured body of a document: it finds the rule of each section and of each entry, and
// converts what no rule covers as general facts, so that nothing coded is lost.
package body

import "recordbridge/shared/fhir/ccda/statement"

// Dispatcher finds the rules of sections and entries. It implements statement.Rules.
type Dispatcher struct {
	c        *statement.Context
	rules    map[string]*statement.Entry // by template
	sections []statement.Section
}

// New returns a Dispatcher for a document, and makes it the context's Rules.
func New(c *statement.Context, all []statement.RuleSet) *Dispatcher {
	d := &Dispatcher{c: c, rules: map[string]*statement.Entry{}}
	for _, of := range all {
		d.sections = append(d.sections, of.Sections...)
		for i := range of.Entries {
			for _, root := range of.Entries[i].Roots {
				d.rules[root] = &of.Entries[i]
			}
		}
	}
	c.Rules = d
	return d
}
