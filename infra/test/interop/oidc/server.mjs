// Starts oidc-provider, an authorization server that other people wrote, as the one of a small health system, and
// judges our SMART client and our relying party with it (judge_test.go). What a client may do is decided by
// oidc-provider alone; here are only the settings, a patient who signs in and consents at once, and the few pages of a
// FHIR server.
//
// The first line of standard input is a JSON object with the settings, see Settings below. The only line of standard
// output is a JSON object with the addresses. The server ends when its standard input does.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

import Provider from 'oidc-provider';

/**
 * @typedef {object} Settings
 * @property {object[]} clients Clients, as RFC 7591 describes them.
 * @property {number} accessTokenLife Life of an access token in seconds.
 * @property {boolean} identityInToken The id_token carries fhirUser, as SMART App Launch has it. Else only userinfo
 *   does, as OpenID Connect Core section 5.4 has it.
 */

const PATIENT = 'p1';
/** Who the patient is, to the relying party that asks an identity provider. */
const PERSON = {
  given_name: 'Maple', family_name: 'Aster', birthdate: '1984-03-12', identity_assurance_level: 2, address: { region: 'WI' },
};
const ALGORITHMS = ['RS256', 'RS384', 'ES256', 'ES384'];

/** Keys that sign id_tokens with any of the algorithms. */
function signingKeys() {
  const pairs = [
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ];
  return pairs.map(({ privateKey }) => ({ ...privateKey.export({ format: 'jwk' }), use: 'sig' }));
}

/** oidc-provider's settings. Everything that is not here is as it comes. */
function configuration(settings) {
  return {
    clients: settings.clients,
    jwks: { keys: signingKeys() },
    enabledJWA: { clientAuthSigningAlgValues: ['RS384', 'ES384'], idTokenSigningAlgValues: ALGORITHMS },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    scopes: ['openid', 'profile', 'address', 'offline_access', 'launch/patient', 'patient/*.rs'],
    claims: {
      openid: ['sub'], fhirUser: ['fhirUser'], address: ['address'],
      profile: ['given_name', 'family_name', 'birthdate', 'identity_assurance_level'],
    },
    conformIdTokenClaims: !settings.identityInToken,
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, fhirUser: `Patient/${PATIENT}`, ...PERSON }),
    }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    ttl: {
      AccessToken: settings.accessTokenLife, AuthorizationCode: 60, Grant: 3600, IdToken: 600, Interaction: 60,
      RefreshToken: 3600, Session: 3600,
    },
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      revocation: { enabled: true },
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    cookies: { keys: ['a key of a server that lives for one test'] },
  };
}

/**
 * The patient does what the provider asks for: signs in, then shares everything that the client asked for. One who comes
 * with ?declined does neither.
 */
async function interact(provider, request, response) {
  if (request.url.endsWith('?declined')) {
    return provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'declined' });
  }
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'account-of-p1' } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const result = { consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

/**
 * The provider's discovery in SMART's place. What is added is what only SMART has, and prompt=consent, without which
 * OpenID Connect Core section 11 has no refresh tokens for anybody; a health system's own pages would ask for consent.
 */
async function smartConfiguration(issuer) {
  const found = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
  return {
    ...found,
    authorization_endpoint: `${found.authorization_endpoint}?prompt=consent`,
    capabilities: [
      'launch-standalone', 'client-public', 'client-confidential-symmetric', 'client-confidential-asymmetric',
      'context-standalone-patient', 'sso-openid-connect', 'permission-offline', 'permission-patient', 'permission-v2',
    ],
  };
}

/** The FHIR server: its SMART configuration for everybody, one patient for a bearer of an access token. */
async function fhir(provider, request, response) {
  const answer = (status, document) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  };
  if (request.url === '/fhir/.well-known/smart-configuration') {
    return answer(200, await smartConfiguration(provider.issuer));
  }
  const bearer = request.headers.authorization?.match(/^Bearer (.+)$/)?.[1];
  const token = bearer && await provider.AccessToken.find(bearer);
  if (!token?.isValid || !token.scopes.has('patient/*.rs')) {
    return answer(401, { resourceType: 'OperationOutcome' });
  }
  if (request.url !== `/fhir/Patient/${PATIENT}`) {
    return answer(404, { resourceType: 'OperationOutcome' });
  }
  return answer(200, { resourceType: 'Patient', id: PATIENT });
}

async function main() {
  const input = createInterface({ input: process.stdin });
  const [line] = await once(input, 'line');
  const ended = once(input, 'close');

  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, configuration(JSON.parse(line)));
  provider.on('server_error', (_, error) => console.error(error));

  const others = provider.callback();
  server.on('request', (request, response) => {
    const page = { interaction: interact, fhir }[request.url.split('/')[1]];
    if (!page) {
      return others(request, response);
    }
    return page(provider, request, response).catch((error) => {
      console.error(error);
      response.writeHead(500).end();
    });
  });
  console.log(JSON.stringify({ issuer, fhir_base: `${issuer}/fhir`, patient: PATIENT }));

  await ended;
  server.close();
  server.closeAllConnections();
}

await main();
