/**
 * Replaces placeholders in code blocks with the reader's own values. This happens only on the reader's own machine (make
 * run), for a reader who is signed in to the dashboard, and with a public ID of test mode. Private keys are shown once
 * and stored as hashes, so they stay placeholders.
 */

const ownHosts = ["localhost", "127.0.0.1", "[::1]"];
const placeholders = {
  publicId: /public_test_00000000-0000-4000-8000-000000000000/g,
  base: /https:\/\/api\.example\.com\/v1/g,
};

let values;

/** Replaces the placeholders of the current page. */
export async function showOwnValues() {
  if (!ownHosts.includes(location.hostname)) return;
  const blocks = [...document.querySelectorAll(".vp-doc pre code")].filter(({ textContent }) =>
    Object.values(placeholders).some((placeholder) => textContent.search(placeholder) >= 0),
  );
  if (blocks.length === 0) return;
  values ??= await ownValues().catch(() => ({}));
  for (const block of blocks) replaceIn(block);
}

function replaceIn(block) {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (const [name, value] of Object.entries(values)) {
      const text = walker.currentNode.data.replace(placeholders[name], value);
      if (text !== walker.currentNode.data) walker.currentNode.data = text;
    }
  }
}

/** Returns the values of the first organisation in which the reader has a credential of test mode. */
async function ownValues() {
  const service = new URL("../", new URL(globalThis.siteBase, location.href));
  const ask = async (path) => {
    const response = await fetch(new URL(path, service), {
      headers: { accept: "application/json" },
    });
    const { data } = await response.json();
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return data;
  };
  const { organisations } = await ask("dashboard/session");
  for (const { id } of organisations) {
    const { credentials } = await ask(`dashboard/organisations/${id}/test/credentials`);
    if (credentials.length > 0)
      return {
        publicId: credentials[0].public_id,
        base: service.href.replace(/\/$/, ""),
      };
  }
  return {};
}
