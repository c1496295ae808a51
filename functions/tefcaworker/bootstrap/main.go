// Command bootstrap runs the tefcaworker Lambda function.
package main

import (
	"recordbridge/functions/tefcaworker/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
