// Calls the API with the types of openapi-typescript.
import createClient from "openapi-fetch";
import type { paths } from "./api/openapi-typescript.js";

const { BASE_URL, PUBLIC_ID, PRIVATE_KEY, CONNECTION_ID } = process.env as Record<string, string>;
const authorization = `Basic ${Buffer.from(`${PUBLIC_ID}:${PRIVATE_KEY}`).toString("base64")}`;
const client = createClient<paths>({ baseUrl: BASE_URL, headers: { authorization } });

const { data, error } = await client.GET("/bridge/org_connection/{orgConnectionId}", {
  params: { path: { orgConnectionId: CONNECTION_ID } },
});
if (error) throw new Error(`${error.error}: ${error.error_description}`);
const connection = data.data;
// The discriminator gives each variant its own fields.
console.log(connection.kind === "portal" ? connection.catalog_brand_id : connection.tefca_directory_id);
