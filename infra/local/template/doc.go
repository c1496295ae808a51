// Package template reads template.yaml, the SAM template that is the only description of the system, and resolves it
// for one stack: parameters, conditions, Globals, intrinsic functions and physical names. It is strict: a resource
// type, property, event type or function that it does not understand is an error with its line, so that what runs on a
// laptop cannot silently differ from what is deployed.
//
// It creates nothing and runs nothing: provision, gateway and the runner do that from the data given here. It does not
// check the house rules either (infra/test/policy), only what AWS itself would refuse at deployment and what the laptop
// would do differently without a word.
package template
