// Command bootstrap runs the reconnect Lambda function.
package main

import (
	"recordbridge/functions/reconnect/wiring"
	"recordbridge/shared/wiring/outbound"
)

func main() { outbound.Run(wiring.Build) }
