"""Makes the realm smart in a new Keycloak: setup.py KEYCLOAK CALLBACK_BASE JWKS_URL PATIENT ..."""
import json, sys
from urllib.parse import urlencode
from urllib.request import Request, urlopen

base, callback, jwks, *patients = sys.argv[1:]
form = urlencode({"grant_type": "password", "client_id": "admin-cli", "username": "admin", "password": "admin"})
token = json.load(urlopen(f"{base}/realms/master/protocol/openid-connect/token", form.encode()))["access_token"]


def post(path, body):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    urlopen(Request(f"{base}/admin/realms{path}", json.dumps(body).encode(), headers))


post("", {"realm": "smart", "enabled": True, "sslRequired": "none", "accessTokenLifespan": 60,
          "revokeRefreshToken": True, "refreshTokenMaxReuse": 0})
# The token response names the patient, which is the user's name here.
named = {"name": "patient", "protocol": "openid-connect", "protocolMapper": "oidc-usermodel-property-mapper",
         "config": {"user.attribute": "username", "claim.name": "patient", "jsonType.label": "String",
                    "access.token.claim": "true", "access.tokenResponse.claim": "true"}}
# Keycloak lets a client introspect only tokens that name it as an audience.
audience = {"name": "gate", "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
            "config": {"included.client.audience": "gate", "access.token.claim": "true",
                       "introspection.token.claim": "true"}}
scopes = ["launch/patient", "patient/*.rs", "fhirUser"]
for scope in scopes:
    post("/smart/client-scopes", {"name": scope, "protocol": "openid-connect",
                                  "attributes": {"include.in.token.scope": "true"},
                                  "protocolMappers": [named, audience] if scope == "launch/patient" else []})


def signed(algorithm):
    return {"clientAuthenticatorType": "client-jwt", "attributes": {
        "use.jwks.url": "true", "jwks.url": jwks, "token.endpoint.auth.signing.alg": algorithm}}


for client, more in {
    "public": {"publicClient": True, "attributes": {"pkce.code.challenge.method": "S256"}},
    "basic": {"secret": "p+q/r=s%t&u:v w"},
    "rs384": signed("RS384"), "es384": signed("ES384"),
    "gate": {"secret": "gate"},
}.items():
    post("/smart/clients", {"clientId": client, "enabled": True, "redirectUris": [f"{callback}/*"],
                            "optionalClientScopes": scopes + ["offline_access"], **more})
for patient in patients:
    post("/smart/users", {"username": patient, "enabled": True, "email": f"{patient}@example.org",
                          "emailVerified": True, "firstName": "Invented", "lastName": "Person",
                          "credentials": [{"type": "password", "value": "interop", "temporary": False}]})
print("ready")
