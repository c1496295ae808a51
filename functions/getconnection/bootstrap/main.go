// Command bootstrap runs the getconnection Lambda function.
package main

import (
	"recordbridge/functions/getconnection/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
