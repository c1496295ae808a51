package main

import (
	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/lambda"
	"recordbridge/infra/local/template"
)

// concurrencyOf is how many processes a function may have.
func concurrencyOf(f template.Function) int {
	if f.Reserved == 0 {
		return mostProcesses
	}
	return min(mostProcesses, f.Reserved)
}

// permitted shows those invocations that Lambda may tell X-Ray about.
type permitted struct {
	lambda.Observer

	authority *iam.Authority
}

// Asked implements lambda.Observer. What is not announced is not shown.
func (p permitted) Asked(trace, function string, payload []byte) {
	if p.authority.MayTrace(function) {
		p.Observer.Asked(trace, function, payload)
	}
}
