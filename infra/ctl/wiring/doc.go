// Package wiring opens the operator's rules (shared/manage/operator) on a stack that runs somewhere: a laptop,
// LocalStack or AWS. It chooses their adapters, as the wiring of a function does, by the outputs of template.yaml. The
// command line, the runner that seeds a fresh stack, and tests use it; no Lambda links it.
package wiring
