// Command bootstrap runs the identity Lambda function.
package main

import (
	"recordbridge/functions/identity/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
