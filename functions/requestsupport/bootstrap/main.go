// Command bootstrap is the requestsupport Lambda function.
package main

import (
	"recordbridge/functions/requestsupport/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
