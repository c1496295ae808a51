// Package jose owns which JSON Web Signatures the sandbox EHR makes and takes: RS256 for what it signs, RS384 and ES384
// for the client assertions that it checks (SMART App Launch 2.2, "Asymmetric (public key)"). The rest is go-jose's.
//
// It looks at signatures and key sets only. What claims must say is the business of package oauth.
package jose
