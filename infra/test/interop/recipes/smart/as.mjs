// A SMART authorization server: node as.mjs PORT CLIENTS SCOPES PATIENT, the last three of them files
import { readFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const [port, clients, scopes, patient] = process.argv.slice(2);
const lines = (file) => readFileSync(file, 'utf8').trim().split(/\s+/);
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: JSON.parse(readFileSync(clients)),
  scopes: ['openid', 'fhirUser', 'offline_access', 'launch/patient', ...lines(scopes)],
  claims: { openid: ['sub'], fhirUser: ['fhirUser'] },
  conformIdTokenClaims: false,
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  enabledJWA: { clientAuthSigningAlgValues: ['RS384', 'ES384'] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, fhirUser: `Patient/${id}` }) }),
  pkce: { required: () => true },
  rotateRefreshToken: true,
  ttl: { AccessToken: 300, Grant: 86400, Interaction: 600, Session: 600, RefreshToken: 86400, IdToken: 600 },
  features: {
    devInteractions: { enabled: false }, introspection: { enabled: true }, revocation: { enabled: true },
  },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  cookies: { keys: ['only for a test on one machine'] },
});

// SMART's launch context: the token response names the patient.
provider.use(async (ctx, next) => {
  await next();
  if (ctx.oidc?.route === 'token' && ctx.body?.access_token) {
    ctx.body.patient = ctx.oidc.entities.Account.accountId;
  }
});

// Signs everybody in as the patient of the file, and consents to everything that the client requests.
provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next();
  const { prompt, params, session } = await provider.interactionDetails(ctx.req, ctx.res);
  let result = { login: { accountId: lines(patient)[0] } };
  if (prompt.name !== 'login') {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    result = { consent: { grantId: await grant.save() } };
  }
  await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: true });
  ctx.respond = false;
});
provider.on('server_error', (_, error) => console.error(error));
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
