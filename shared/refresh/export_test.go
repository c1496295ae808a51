package refresh

// EndpointName is how the package names a token endpoint to Traffic.
func EndpointName(url string) string { return endpointName(url) }
