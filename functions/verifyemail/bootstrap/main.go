// Command bootstrap runs the verifyemail Lambda function.
package main

import (
	"recordbridge/functions/verifyemail/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
