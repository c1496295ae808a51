// Command bootstrap runs the exportcatalog Lambda function.
package main

import (
	"recordbridge/functions/exportcatalog/wiring"
	"recordbridge/shared/platform/lambdarun"
)

func main() { lambdarun.Run(wiring.Build) }
