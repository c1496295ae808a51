// Command bootstrap runs the requestsupport Lambda function.
package main

import (
	"recordbridge/functions/requestsupport/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
