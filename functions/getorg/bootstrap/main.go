// Command bootstrap runs the getorg Lambda function.
package main

import (
	"recordbridge/functions/getorg/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
