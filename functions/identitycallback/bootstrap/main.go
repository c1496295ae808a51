// Command bootstrap runs the identitycallback Lambda function.
package main

import (
	"recordbridge/functions/identitycallback/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
