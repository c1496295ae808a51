// Command bootstrap runs the cancelattempt Lambda function.
package main

import (
	"recordbridge/functions/cancelattempt/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
