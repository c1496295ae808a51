// Command bootstrap runs the authorizevault Lambda function.
package main

import (
	"recordbridge/functions/authorizevault/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
