// Command bootstrap runs the callback Lambda function.
package main

import (
	"recordbridge/functions/callback/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
