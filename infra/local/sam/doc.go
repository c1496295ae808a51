// Package sam runs the functions of template.yaml in containers, by the SAM CLI's `sam local start-lambda`. It finds
// out about the container engine of this machine, writes a template in which nothing is left to resolve, and owns
// the CLI's process and the containers that this starts. What is invoked, and why, it does not know (package
// triggers and the gateway do).
package sam
