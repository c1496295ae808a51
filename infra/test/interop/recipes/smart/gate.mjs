// SMART in front of a FHIR server that has none: node gate.mjs PORT FHIR_BASE ISSUER CLIENT:SECRET
import { createServer, request as send } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

const [port, base, issuer, client] = process.argv.slice(2);
const upstream = new URL(base);
const discovery = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
const smart = {
  ...discovery,
  authorization_endpoint: `${discovery.authorization_endpoint}${process.env.AUTHORIZE_QUERY ?? ''}`,
  capabilities: ['launch-standalone', 'client-public', 'client-confidential-symmetric',
    'client-confidential-asymmetric', 'context-standalone-patient', 'sso-openid-connect', 'permission-offline',
    'permission-patient', 'permission-v2'],
};
const known = new Map(); // active tokens, for ten seconds

async function active(token) {
  if (!token || known.get(token) > Date.now()) return Boolean(token);
  const state = await (await fetch(discovery.introspection_endpoint, {
    method: 'POST', headers: { authorization: `Basic ${btoa(client)}` }, body: new URLSearchParams({ token }),
  })).json();
  if (state.active) known.set(token, Math.min(state.exp * 1000, Date.now() + 10_000));
  return Boolean(state.active);
}

createServer(async (request, response) => {
  const { method, url, headers: { authorization, ...headers } } = request;
  const answer = (status) => console.log(JSON.stringify({ method, url, status }));
  const say = (status, document) => {
    answer(status);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  };
  await wait(Number(process.env.DELAY ?? 0));
  if (url === `${upstream.pathname}/.well-known/smart-configuration`) return say(200, smart);
  if (url !== `${upstream.pathname}/metadata` && !await active(authorization?.replace(/^Bearer /, ''))) {
    return say(401, { resourceType: 'OperationOutcome' });
  }
  const at = { host: upstream.hostname, port: upstream.port, method, path: url, headers, agent: false };
  request.pipe(send(at, (found) => {
    answer(found.statusCode);
    response.writeHead(found.statusCode, found.headers);
    found.pipe(response);
  }).on('error', () => say(502, { resourceType: 'OperationOutcome' })));
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
