/** Maps each screen to its chapter of the documentation site, relative to the dashboard's URL. */

const guide = "docs/guide";

/** The chapters by screen name. A test checks that each chapter and anchor exists in docs/. */
export const chapters: Readonly<Record<string, string>> = {
  "": `${guide}/dashboard.html#first-use`,
  credentials: `${guide}/export.html#credentials`,
  webhooks: `${guide}/webhooks.html`,
  playground: `${guide}/widget.html#the-playground`,
  "going-live": `${guide}/going-live.html`,
  deliveries: `${guide}/webhooks.html#retries`,
  connections: `${guide}/webhook-reference.html#causes`,
  exports: `${guide}/export.html`,
  institutions: `${guide}/widget.html#troubleshooting`,
  logs: `${guide}/errors.html`,
  usage: `${guide}/dashboard.html#screens`,
  inbox: `${guide}/webhook-reference.html#events`,
  branding: `${guide}/widget-reference.html#styling`,
  members: `${guide}/dashboard.html#roles`,
  audit: `${guide}/dashboard.html#roles`,
  account: `${guide}/dashboard.html#emails`,
};

/** Returns the explanation of an error code, or undefined if the site has none. */
export const explanation = (code: string): string | undefined =>
  code.startsWith("svc_") ? `${guide}/errors.html#codes` : undefined;

/** The customer guide's first page. */
export const documentation = `${guide}/index.html`;
