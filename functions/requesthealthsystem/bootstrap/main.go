// Command bootstrap runs the requesthealthsystem Lambda function.
package main

import (
	"recordbridge/functions/requesthealthsystem/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
