// Command bootstrap runs the sendcode Lambda function.
package main

import (
	"recordbridge/functions/sendcode/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
