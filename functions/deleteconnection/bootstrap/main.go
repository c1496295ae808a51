// Command bootstrap runs the deleteconnection Lambda function.
package main

import (
	"recordbridge/functions/deleteconnection/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
