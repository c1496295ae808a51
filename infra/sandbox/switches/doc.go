// Package switches owns the vocabulary of the sandbox's misbehaviours: the table of every switch, and the sets of them
// that stand in the path of a FHIR base URL, as in /sandbox/with/outcome-entry,access:5s/fhir.
//
// It says which words exist and what their values mean. What a switch does to an answer is done where the answer is
// made: packages oauth and sandbox.
package switches
