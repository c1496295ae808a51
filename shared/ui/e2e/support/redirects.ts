/** The portal's redirects back to us, as something that a test can catch. */
import type { BrowserContext } from "@playwright/test";

/** The portal leads back by a page in place of a redirect, in which no test can catch what is asked for. */
export async function withoutRedirects(context: BrowserContext): Promise<void> {
  await context.route("**/sandbox/oauth/**", async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    const { location = "" } = response.headers();
    if (!location.includes("/bridge/callback")) return route.fulfill({ response });
    await route.fulfill({ contentType: "text/html", body: `<script>location.replace(${JSON.stringify(location)})</script>` });
  });
}
