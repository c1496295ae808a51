// Command bootstrap is the sendcode Lambda function.
package main

import (
	"recordbridge/functions/sendcode/wiring"
	"recordbridge/shared/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
