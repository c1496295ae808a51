/** Writes the page that lists all operations and events, so that the site's search finds them. */

/** The names of documents in a description. */
const documents = /\b(adr|develop|guide|operate|reference)\/[\w-]+\.md\b/g;

/** Links the documents that a description names. */
export const withLinks = (text, linkOf) => text.replaceAll(documents, (path) => `[${path}](${linkOf(path)})`);

/** Calls visit with each operation of an OpenAPI document. */
export function eachOperation(api, visit) {
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(methods))
      if (operation.operationId !== undefined) visit(operation, method, path);
}

/** Returns the page's Markdown, for the OpenAPI and AsyncAPI documents. */
export function operationsPage(api, events) {
  const sections = new Map(api.tags.map(({ name, description }) => [name, [`## ${name}`, description]]));
  eachOperation(api, (operation, method, path) => {
    const { operationId: id, tags, summary, description = "" } = operation;
    const link = `../openapi.yaml#/${tags[0]}/${id.toLowerCase()}`;
    const title = `\`${id}\`: [\`${method.toUpperCase()} ${path}\`](${link})`;
    sections.get(tags[0]).push(
      `### ${summary}`,
      title,
      withLinks(description, (to) => `../${to}`),
    );
  });
  const messages = Object.values(events.components.messages).flatMap(({ name, title, summary }) => [
    `### ${title}`,
    `[\`${name}\`](../asyncapi.yaml#/channels/webhook#channels/webhook/messages&m=${name}): ${summary}`,
  ]);
  return [
    "---\noutline: 2\n---",
    "# Operations and events",
    "Each entry links to its parameters, responses and examples.",
    ...[...sections.values()].flat(),
    "## Webhook events",
    ...messages,
  ].join("\n\n");
}
