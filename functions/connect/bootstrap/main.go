// Command bootstrap runs the connect Lambda function.
package main

import (
	"recordbridge/functions/connect/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
