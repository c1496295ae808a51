// Judges the signatures of webhooks as a receiver would (verify_test.go): with standardwebhooks, the official library,
// which knows v1 alone, and with Node's own crypto, which knows ed25519 and so v1a.
//
// Standard input is a JSON array of Received. Standard output is a JSON array with a text for each: empty when it
// verifies, else why it does not.
import { createPublicKey, verify } from 'node:crypto';
import { text } from 'node:stream/consumers';

import { Webhook } from 'standardwebhooks';

/**
 * @typedef {object} Received
 * @property {string} key The secret ("whsec_…"), or the public key ("whpk_…").
 * @property {Record<string, string>} headers Headers, as they came.
 * @property {string} body The body, as it came.
 */

/** @param {Received} received */
function judge({ key, headers, body }) {
	try {
		if (key.startsWith('whpk_')) asymmetric(key, headers, body);
		else new Webhook(key).verify(body, headers);
		return '';
	} catch (error) {
		return `${error.name}: ${error.message}`;
	}
}

/** Standard Webhooks 1.0, "Asymmetric". */
function asymmetric(key, headers, body) {
	const x = Buffer.from(key.slice('whpk_'.length), 'base64').toString('base64url');
	const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
	const sent = new Headers(headers);
	const content = Buffer.from(`${sent.get('webhook-id')}.${sent.get('webhook-timestamp')}.${body}`);
	const signatures = (sent.get('webhook-signature') ?? '').split(' ').filter((one) => one.startsWith('v1a,'));
	if (!signatures.some((one) => verify(null, content, publicKey, Buffer.from(one.slice('v1a,'.length), 'base64')))) {
		throw new Error(`none of ${signatures.length} v1a signatures verifies`);
	}
}

process.stdout.write(JSON.stringify(JSON.parse(await text(process.stdin)).map(judge)));
